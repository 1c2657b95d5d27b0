package schemas

import "maps"

// EmailVerified is the attribute that states whether the user's email address is verified: the user
// has read the mail of that address, or an administrator has set it (OpenID Connect Core §5.1).
const EmailVerified = "email_verified"

// PhoneNumberVerified is EmailVerified for the user's phone number.
const PhoneNumberVerified = "phone_number_verified"

// VerificationAttributes maps each attribute that states a verification to the attribute that is
// verified.
func VerificationAttributes() map[string]string {
	return map[string]string{EmailVerified: "email", PhoneNumberVerified: "phone_number"}
}

// Verified reports whether an attested attribute, one of the keys of VerificationAttributes, holds:
// the user has a value to verify, and it is verified.
func (u *User) Verified(attested string) bool {
	return u.Text(VerificationAttributes()[attested]) != "" && u.Attributes[attested] == true
}

// Identifier returns the value that identifies the user under an identifying attribute, "" if there
// is none. An email address identifies its user only while it is verified: anyone can enter any
// address, and such an account must neither be found by the address nor block its owner.
func (u *User) Identifier(attribute string) string {
	if attribute == "email" && !u.Verified(EmailVerified) {
		return ""
	}
	return u.Text(attribute)
}

// With returns a copy of the user with other values for some attributes. A value that
// changes is no longer verified, unless changed says that the new one is.
func (u *User) With(changed map[string]any) *User {
	next := *u
	next.Attributes = map[string]any{}
	maps.Copy(next.Attributes, u.Attributes)
	maps.Copy(next.Attributes, changed)
	maps.DeleteFunc(next.Attributes, func(_ string, value any) bool { return value == nil })
	for attested, attribute := range VerificationAttributes() {
		if _, stated := changed[attested]; !stated && IdentifierKey(next.Text(attribute)) != IdentifierKey(u.Text(attribute)) {
			delete(next.Attributes, attested)
		}
	}
	return &next
}

// WithoutEmail returns a copy of the user without an email address.
func (u *User) WithoutEmail() *User {
	next := *u
	next.Attributes = maps.Clone(u.Attributes)
	delete(next.Attributes, "email")
	delete(next.Attributes, EmailVerified)
	return &next
}
