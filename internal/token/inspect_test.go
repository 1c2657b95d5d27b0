package token

import "testing"

func TestInspect(t *testing.T) {
	for _, typ := range []string{AssertionType, AccessType} {
		f := newForge(t, typ)
		claims, err := f.i.Inspect(t.Context(), f.valid)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := f.i.Verify(t.Context(), f.valid, claims.Audience[0]); err != nil || want.ID != claims.ID {
			t.Errorf("got %+v, want %+v, %v", claims, want, err)
		}
		for name, raw := range hostile(f) {
			if name == "another audience" || name == "audience with a slash" || name == "audience in part" {
				continue // irrelevant here
			}
			if claims, err := f.i.Inspect(t.Context(), raw); err == nil {
				t.Errorf("%s: accepted, with the claims %+v", name, claims)
			}
		}
	}
}

func TestAccessID(t *testing.T) {
	f := newForge(t, AccessType)
	a := newAccess()
	a.ID = "together.1"
	raw := issueAccess(t, f.i, a)
	if claims, err := f.i.Inspect(t.Context(), raw); err != nil || claims.ID != a.ID {
		t.Errorf("got %+v, %v, want the jti %s", claims, err, a.ID)
	}
}
