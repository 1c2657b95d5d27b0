package main

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// When the user type rejects a sign-up, the reply of the run reports it: at the prompt that
// asked for the attribute, or as the reason for which the run ends.
func TestSignUpThatTheUserTypeRejectsIsReportedByTheRun(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		token := w.admin()
		tests := []struct {
			name, schema, field, reason string
		}{
			{"no prompt asked for it", `{"type":"object","required":["department"],"properties":{
				"username":{"type":"string"},"department":{"type":"string"}}}`, "", "department"},
			{"the prompt asked for it", `{"type":"object","properties":{"username":{"type":"string","maxLength":4}}}`, "username", ""},
		}
		for _, test := range tests {
			name := test.name
			typeName := "Type " + strings.ReplaceAll(name, " ", "-")
			typeID := w.made(token, "/user-types", `{"name":"`+typeName+`","schema":{"type":"object"}}`)
			app := w.made(token, "/applications", `{"name":"`+name+`","isRegistrationFlowEnabled":true,"allowedUserTypes":["`+typeName+`"]}`)
			w.storeSchema(typeID, func([]byte) []byte { return []byte(test.schema) })
			run := w.begin(app, "REGISTRATION")
			s := w.answer(run, "continue", map[string]string{"username": "grace"})
			switch {
			case test.field != "":
				if s.FlowStatus != schemas.Incomplete || s.StepID != run.StepID || len(s.Data.FieldErrors) != 1 || s.Data.FieldErrors[0].Identifier != test.field {
					t.Errorf("%s: %+v", name, s)
				}
				if s = w.answer(s, "continue", map[string]string{"username": "ada"}); s.FlowStatus != schemas.Incomplete || s.StepID == run.StepID {
					t.Errorf("%s: a corrected answer does not continue: %+v", name, s)
				}
			case s.FlowStatus != schemas.Failed || s.Error == nil || s.Error.Code != schemas.CodeUserDoesNotFit || !strings.Contains(s.FailureReason, test.reason):
				t.Errorf("%s: %+v", name, s)
			}
		}
	})
}
