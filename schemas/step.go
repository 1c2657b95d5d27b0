package schemas

// Step is the reply of POST /flow/execute: the current step, or the result of the run.
type Step struct {
	ExecutionID    string    `json:"executionId"`
	FlowStatus     RunStatus `json:"flowStatus"`
	Type           StepType  `json:"type,omitempty"`
	StepID         string    `json:"stepId,omitempty"`
	ChallengeToken string    `json:"challengeToken,omitempty"`
	Data           StepData  `json:"data"`
	Assertion      string    `json:"assertion,omitempty"`
	Error          *Error    `json:"error,omitempty"`
	FailureReason  string    `json:"failureReason,omitempty"`

	// SignedIn is the id of the assertion's user, and Strength what the sign-in proved, for the server: the client has the assertion.
	// User is this user, nil if the flow did not read it.
	SignedIn string          `json:"-"`
	Strength BrowserStrength `json:"-"`
	User     *User           `json:"-"`
	// Concealed says that the duration of the reply must not reveal whether a user exists.
	Concealed bool `json:"-"`
}

// StepType determines how a client shows an unfinished step.
type StepType string

// The step types.
const (
	View        StepType = "VIEW"
	Redirection StepType = "REDIRECTION"
)

// StepData contains what a client needs to show a step to the user. Meta is present only in verbose
// replies.
type StepData struct {
	Inputs         []Input           `json:"inputs,omitempty"`
	Actions        []Action          `json:"actions,omitempty"`
	AdditionalData map[string]string `json:"additionalData,omitempty"`
	Meta           *Meta             `json:"meta,omitempty"`
	FieldErrors    []FieldError      `json:"fieldErrors,omitempty"`
	RedirectURL    string            `json:"redirectURL,omitempty"`
}

// Input is a value that the step requests. Ref is the name of its component.
type Input struct {
	Ref        string    `json:"ref"`
	Identifier string    `json:"identifier"`
	Type       InputType `json:"type"`
	Required   bool      `json:"required"`
	Options    []string  `json:"options,omitempty"`
}

// InputType is the type of an input.
type InputType string

// The input types.
const (
	TextInput     InputType = "TEXT_INPUT"
	EmailInput    InputType = "EMAIL_INPUT"
	PasswordInput InputType = "PASSWORD_INPUT"
	OTPInput      InputType = "OTP_INPUT"
	PhoneInput    InputType = "PHONE_INPUT"
	NumberInput   InputType = "NUMBER_INPUT"
	DateInput     InputType = "DATE_INPUT"
	SelectInput   InputType = "SELECT"
	HiddenInput   InputType = "HIDDEN"
)

// Secret reports whether values of the type are used only within their step and never stored.
func (t InputType) Secret() bool { return t == PasswordInput || t == OTPInput }

// Action is a way to answer the step. The client sends its Ref.
type Action struct {
	Ref      string `json:"ref"`
	NextNode string `json:"nextNode,omitempty"`
}

// FieldError is the error of one input.
type FieldError struct {
	Identifier string `json:"identifier"`
	Message    string `json:"message"`
}

// Meta describes the step as components, so that a user interface can render
// any step without knowing its kind.
type Meta struct {
	Components []Component `json:"components"`
}

// Component types in addition to the input types.
const (
	TextComponent   = "TEXT"
	ImageComponent  = "IMAGE"
	BlockComponent  = "BLOCK" // a form
	StackComponent  = "STACK"
	ActionComponent = "ACTION"
)

// Event types of an ACTION component.
const (
	SubmitEvent  = "SUBMIT"
	TriggerEvent = "TRIGGER" // starts a passkey ceremony in the browser
)

// Component is one element of a step's user interface. An input component's
// Ref equals the input's identifier, an ACTION's ID equals the action's ref.
type Component struct {
	ID           string      `json:"id"`
	Type         string      `json:"type"`
	Ref          string      `json:"ref,omitempty"`
	Label        string      `json:"label,omitempty"`
	Src          string      `json:"src,omitempty"` // of an IMAGE, an address
	Placeholder  string      `json:"placeholder,omitempty"`
	Required     bool        `json:"required,omitempty"`
	Options      []string    `json:"options,omitempty"`
	Autocomplete string      `json:"autocomplete,omitempty"`
	Variant      string      `json:"variant,omitempty"`
	EventType    string      `json:"eventType,omitempty"`
	Components   []Component `json:"components,omitempty"`
}
