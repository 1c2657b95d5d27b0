package schemas

import (
	"reflect"
	"testing"
)

func TestWithoutDuplicates(t *testing.T) {
	found := []Problem{{Path: "members"}, {Path: "a.b"}, {Path: `["x.y"]`}}
	for path, want := range map[string]bool{
		"members": false, "members[0].id": false, "members.x": false, "membership": true, "member": true,
		"a": true, "a.b": false, "a.b.c": false, "a.bc": true, `["x.y"][2]`: false, "": true,
	} {
		if got := len(WithoutDuplicates([]Problem{{Path: path}}, found)) == 1; got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
	if rest := WithoutDuplicates([]Problem{{Path: ""}, {Path: "a"}}, []Problem{{Path: ""}}); len(rest) != 0 {
		t.Errorf("what is no object has more that is wrong: %v", rest)
	}
	if all := []Problem{{Path: "b"}, {Path: "a"}}; !reflect.DeepEqual(WithoutDuplicates(all, nil), all) {
		t.Error("some are gone")
	}
}
