#!/bin/bash
# What the container of a JobManager or a TaskManager runs, as Flink's operator calls it: the first
# argument says which of the two. The sizes of the JVM's parts are worked out by Flink itself.
set -euo pipefail
home=${FLINK_HOME:-/opt/flink} conf=${FLINK_CONF_DIR:-/opt/flink/conf}
role=${1:-}
shift || true
case $role in
  standalone-job)
    main=org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint sizes=GET_JM_RESOURCE_PARAMS
    ;;
  taskmanager)
    main=org.apache.flink.runtime.taskexecutor.TaskManagerRunner sizes=GET_TM_RESOURCE_PARAMS
    ;;
  *) exec "$role" "$@" ;;
esac
cd "$home"

# Settings given as -D KEY=VALUE or -DKEY=VALUE count for the sizes too.
settings=()
arguments=("$@")
for ((i = 0; i < $#; i++)); do
  case ${arguments[i]} in
    -D) settings+=(-D "${arguments[i + 1]}") ;;
    -D*) settings+=("${arguments[i]}") ;;
  esac
done
readarray -t sized < <(java -XX:TieredStopAtLevel=1 -cp "$home/bin/bash-java-utils.jar:$home/lib/*" \
  org.apache.flink.runtime.util.bash.BashJavaUtils "$sizes" --configDir "$conf" "${settings[@]}" 2>&1 |
  sed -n 's/^BASH_JAVA_UTILS_EXEC_RESULT://p')
[[ ${#sized[@]} -ge 2 ]] || { echo "entrypoint: Flink could not work out the sizes for $role" >&2; exit 1; }
read -ra jvm <<<"${sized[0]}"
read -ra sizes <<<"${sized[1]}"

# What Flink's libraries reach into since Java 17, as its own configuration lists it.
for package in java.lang java.net java.io java.nio java.lang.reflect java.text java.time java.util \
  java.util.concurrent java.util.concurrent.atomic java.util.concurrent.locks sun.nio.ch; do
  jvm+=("--add-opens=java.base/$package=ALL-UNNAMED")
done
exec tini -s -- java "${jvm[@]}" --add-exports=java.base/sun.net.util=ALL-UNNAMED \
  --add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED --add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED \
  "-Dlog4j.configurationFile=file:$conf/log4j-console.properties" -cp "$home/lib/*" \
  "$main" --configDir "$conf" "${sizes[@]}" "$@"
