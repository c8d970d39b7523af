#!/usr/bin/env bash
# Makes images.tar: Spark, Flink and their operators as images in one OCI archive, without a registry
# and without a container engine. The lowest layer is base.sh's; Spark's files come by Maven, Flink's from
# PyPI.
#
#     build.sh OUTPUT-FOLDER WORK-FOLDER BASE SPARK-OPERATOR FLINK-OPERATOR-FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
output=$1 work=$2 base=$3 spark_operator=$4 flink_operator=$5
flink=1.19.1
say() { printf 'nodes build: images: %s\n' "$*" >&2; }

rm -rf "$work"
layers=$work/layers
mkdir -p "$layers"
architecture=$(dpkg --print-architecture)

ln -s "$base" "$layers/base.tar"

say "Spark, by Maven"
spark=$layers/spark/opt/spark
mkdir -p "$spark/bin" "$spark/conf" "$spark/examples/jars" "$work/classes"
mvn -B -q -ntp -Dstyle.color=never -f "$here/spark/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
  "-DoutputDirectory=$spark/jars" >&2
javac --release 17 -proc:none -cp "$spark/jars/*" -d "$work/classes" "$here/spark/esi/Pi.java" 2>"$work/javac" ||
  { cat "$work/javac" >&2; exit 1; }
(cd "$work/classes" && jar --create --date=1980-01-01T00:00:02Z --file "$spark/examples/jars/esi-pi.jar" esi)
install -m 0755 "$here/spark/spark-submit" "$spark/bin/"
install -m 0755 "$here/spark/entrypoint.sh" "$layers/spark/opt/"
install -D -m 0755 "$spark_operator" "$layers/spark-operator/usr/bin/spark-operator"

say "Flink, from PyPI"
mkdir -p "$layers/flink/opt/flink/"{lib,bin,examples/streaming} "$work/flink"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary :all: -d "$work" \
  "apache-flink-libraries==$flink" >&2
tar -xzf "$work/apache-flink-libraries-$flink.tar.gz" -C "$work/flink" --strip-components=2 --wildcards '*/deps/*'
cp "$work"/flink/lib/{flink-dist,flink-cep,flink-connector-files,flink-csv,flink-json,log4j}-*.jar "$layers/flink/opt/flink/lib/"
cp "$work/flink/bin/bash-java-utils.jar" "$layers/flink/opt/flink/bin/"
mvn -B -q -ntp -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
  "-Dartifact=org.apache.flink:flink-examples-streaming:$flink:jar:WordCount" "-DoutputDirectory=$work" >&2
cp "$work/flink-examples-streaming-$flink-WordCount.jar" "$layers/flink/opt/flink/examples/streaming/WordCount.jar"
install -m 0755 "$here/flink/entrypoint.sh" "$layers/flink/docker-entrypoint.sh"
mkdir -p "$layers/flink-operator/opt"
cp -rL "$flink_operator/lib" "$layers/flink-operator/opt/flink-operator"

say "one archive of all"
mkdir -p "$output"
python3 -B "$here/archive.py" "$output/images.tar" "$layers" "$architecture"
rm -rf "$work"
