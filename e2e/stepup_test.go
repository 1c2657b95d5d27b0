package e2e_test

import "testing"

// An application requests more for a sensitive page: a signed-in user is asked for the passkey only,
// and Cancel returns to the application with an error.
func TestStepUpCanBeCanceled(t *testing.T) {
	t.Parallel()
	f := &federated{postern: serve(t)}
	f.app = f.storeFlow(t, "../../recipes/step_up.yaml")
	f.create(t, "/users", adminToken(t, f.postern), object{"type": "Person", "attributes": object{"username": "ada", "password": "quiet harbour lantern"}}, nil)
	rp := newRelyingParty(t, f.postern, "Bank")
	f.setClaims(t, rp.id)
	g := &gateTab{tab: openTab(t), base: f.base}
	g.open(rp.request())
	g.shows("step/who")
	g.enter("username", "ada")
	g.enter("password", "quiet harbour lantern")
	g.click("action-continue")
	if got := rp.waitForCode(g.tab); got.Get("code") == "" {
		t.Fatalf("the sign-in with a password: %v", got)
	}
	g.open(rp.request("acr_values", "urn:postern:acr:mfa-phr"))
	g.shows("step/key")
	g.click("action-cancel")
	if got := rp.waitForCode(g.tab); got.Get("error") != "unmet_authentication_requirements" || got.Has("code") {
		t.Errorf("the application gets %v", got)
	}
}
