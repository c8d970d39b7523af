#!/usr/bin/env bash
# Makes the lowest layer of all images: Debian with a Java runtime, by mmdebstrap.
#
#     base.sh OUTPUT.tar
set -euo pipefail
# The runtime's packages want the folder of man pages, the accounts are those of the real images.
# shellcheck disable=SC2016  # the hooks are programs for mmdebstrap's shell
SOURCE_DATE_EPOCH=0 mmdebstrap --quiet --variant=minbase --include=openjdk-17-jre-headless,tini,procps \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --setup-hook='mkdir -p "$1/usr/share/man/man1"' \
  --customize-hook='chroot "$1" useradd --uid 185 --no-create-home --home-dir /opt/spark spark' \
  --customize-hook='chroot "$1" useradd --uid 9999 --no-create-home --home-dir /opt/flink flink' \
  --customize-hook='chroot "$1" install -d -o spark /opt/spark/work-dir' \
  --customize-hook='chroot "$1" install -d -o flink /opt/flink/log /opt/flink/conf' \
  --customize-hook="ln -s java-17-openjdk-$(dpkg --print-architecture) \"\$1/usr/lib/jvm/java-17\"" \
  --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*' \
  bookworm "$1" >&2
