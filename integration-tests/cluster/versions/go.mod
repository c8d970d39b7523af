// This file only makes the folder a module: build.sh builds it with
// -modfile=1.34.mod and so on, one for each version. pin.sh writes those.
module esi/integration-tests/cluster/versions

go 1.24.0
