package nodes

import (
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func smsOTPKind(d Deps) declared {
	return configured[emailOTP](d, engine.Kind{
		Name: "sms-otp",
		Doc:  "Authenticates with a code that is sent to the phone of the user.",
		Asks: true,
		Outcomes: []engine.Outcome{
			engine.On(successOutcome, engine.Effect{Proves: engine.Mailbox}, engine.Outcome{Doc: "the user entered the code"}),
		},
	}, errorCodes{schemas.CodeInvalidCode}, row{"success", "an authenticated user"})
}
