package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Each member of applications that names a flow is found, with its title.
func TestApplicationsOfAFlow(t *testing.T) {
	var paths []string
	member := reflect.TypeFor[schemas.Application]()
	for i := range member.NumField() {
		if path, _, _ := strings.Cut(member.Field(i).Tag.Get("json"), ","); strings.HasSuffix(path, "FlowId") {
			paths = append(paths, path)
		}
	}
	titles := map[string]string{"authFlowId": "sign-in flow", "registrationFlowId": "registration flow", "recoveryFlowId": "recovery flow",
		"invitationFlowId": "invitation flow", "addressFlowId": "address flow"}
	if len(paths) != len(titles) {
		t.Errorf("applications have the members %v", paths)
	}
	for _, path := range paths {
		uses := applicationsOf([]resource{{"name": "Shop", path: "f1"}, {"name": "Other", path: "f2"}}, "f1")
		if len(uses) != 1 || uses[0] != titles[path]+" of Shop" {
			t.Errorf("%s: %q", path, uses)
		}
	}
}
