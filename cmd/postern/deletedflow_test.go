package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A flow that no application uses can be deleted while users have unfinished runs of it.
// No instance continues these runs, and runs of other flows go on.
func TestDeletedFlowEndsRunsOnEveryInstance(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		admin := one.admin()
		flow := one.storeFlow(admin, "password_only.yaml")
		shop := one.application(admin, "Shop", "authFlowId", flow)
		abandoned, known := one.begin(shop, "AUTHENTICATION"), two.begin(shop, "AUTHENTICATION")
		other := one.begin(plainID, "AUTHENTICATION")

		if rec := one.call("DELETE", "/flows/"+flow, admin, ""); rec.Code != http.StatusConflict {
			t.Fatalf("deleting the flow of an application: %d %s", rec.Code, rec.Body)
		}
		two.canContinue(known)
		one.put("/applications/"+shop, `{"name":"Shop"}`, admin)
		two.canContinue(known)
		if rec := one.call("DELETE", "/flows/"+flow, admin, ""); rec.Code != http.StatusNoContent {
			t.Fatalf("deleting a flow with unfinished runs: %d %s", rec.Code, rec.Body)
		}
		for _, w := range []*testApp{one, two, raiseHashCost(t, one)} {
			w.findsNoRun(abandoned)
			w.findsNoRun(known)
		}
		two.canContinue(other)
	})
}

// A run that another instance started while its flow was being deleted is unknown too.
func TestRunOfADeletedFlowIsUnknown(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, _ *testApp) {
		admin := one.admin()
		flow := one.storeFlow(admin, "password_only.yaml")
		shop := one.application(admin, "Shop", "authFlowId", flow)
		s := one.begin(shop, "AUTHENTICATION")
		run, err := one.store.Run(t.Context(), s.ExecutionID)
		if err != nil {
			t.Fatal(err)
		}
		if run.Revision != 1 {
			t.Fatalf("a new run has revision %d", run.Revision)
		}
		one.put("/applications/"+shop, `{"name":"Shop"}`, admin)
		if rec := one.call("DELETE", "/flows/"+flow, admin, ""); rec.Code != http.StatusNoContent {
			t.Fatalf("deleting the flow: %d %s", rec.Code, rec.Body)
		}
		if err := one.store.Commit(t.Context(), run, nil); err != nil {
			t.Fatal(err)
		}
		raiseHashCost(t, one).findsNoRun(s)
	})
}

func (w *testApp) canContinue(s schemas.Step) {
	w.t.Helper()
	if status, said := w.attempt("/flow/execute", "", map[string]any{"executionId": s.ExecutionID}); status != http.StatusOK {
		w.t.Errorf("continuing a run: %d %s", status, said)
	}
}

// findsNoRun checks that a run can be neither resumed nor answered.
func (w *testApp) findsNoRun(s schemas.Step) {
	w.t.Helper()
	for _, body := range []map[string]any{
		{"executionId": s.ExecutionID},
		{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "continue", "inputs": map[string]string{"username": "pat", "password": rpPassword}},
	} {
		if status, said := w.attempt("/flow/execute", "", body); status != http.StatusBadRequest || !strings.Contains(said, `"`+schemas.CodeExecutionNotFound+`"`) {
			w.t.Errorf("continuing a run of a deleted flow: %d %s", status, said)
		}
	}
}
