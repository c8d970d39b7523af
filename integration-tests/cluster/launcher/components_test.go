package launcher

import (
	"slices"
	"testing"
)

func TestFlagsForTheAPIServerComeLast(t *testing.T) {
	more := []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement", "--profiling=true"}
	server := apiServer("/tmp/c", Ports{}, Options{Audit: true, Features: "A=true", APIServerFlags: more})
	if len(server.args) < 2 || !slices.Equal(server.args[len(server.args)-2:], more) {
		t.Errorf("the arguments end with %q, want %q", server.args[max(0, len(server.args)-2):], more)
	}
}

func TestAFlagWithoutDashesIsRefused(t *testing.T) {
	if err := checkFlags([]string{"--v=4", "--profiling"}); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"v=4", "-v=4", ""} {
		if err := checkFlags([]string{"--v=4", wrong}); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}
