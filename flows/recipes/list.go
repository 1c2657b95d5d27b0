package recipes

// list returns the recipes without their files, in the order of docs/recipes.md. A recipe whose file is
// in the parent folder is a built-in flow: every server has it.
func list() []Recipe {
	return []Recipe{
		{Name: "sign-in", When: "The default. Users sign in with a passkey; those who have none use a password. A browser " +
			"with a session passes without a question."},
		{Name: "passkey-sign-up", When: "New users create an account with a passkey and no password. Where the server sends mail, " +
			"the address is verified first."},
		{Name: "password-and-second-factor", When: "Users have passwords, and every sign-in needs a second factor: a code of an authenticator " +
			"app, or a recovery code. A user without an app sets one up at the first sign-in."},
		{Name: "password-then-passkey", When: "You want to move users from passwords to passkeys. After a sign-in with the password the " +
			"page offers a passkey, which the user can skip."},
		{Name: "step-up", When: "A password is enough, except for the pages of an application that request more with acr_values: " +
			"there a signed-in user is asked for a passkey only. A user who cancels returns to the application."},
		{Name: "step-up-for-administrators", When: "Most users need a password. Administrators, and clients that request more, need a passkey " +
			"too. Let administrators register a passkey before you assign the flow."},
		{Name: "forgotten-password", When: "Users of applications with passwords set a new one with a mailed code and their second " +
			"factor. Assign it as recoveryFlowId."},
		{Name: "lost-passkey", When: "Users who have lost their passkey add a new one with a mailed code and their second " +
			"factor. Assign it as recoveryFlowId."},
		{Name: "invitation", When: "An administrator creates the account and invites the user, who adds a passkey or sets a " +
			"password. Assign it as invitationFlowId."},
		{Name: "change-address", When: "Users change their email address on the account page and verify the new one. Assign it as " +
			"addressFlowId."},
		{Name: "verified-address", When: "An account must have a verified email address. Nothing is stored before the user has " +
			"entered the mailed code."},
		{Name: "progressive-profile", When: "A short sign-up, and a profile that grows: later sign-ins ask for the attributes that are " +
			"missing."},
		{Name: "company-sign-in", When: "Employees sign in at their company's identity provider, which the domain of the address " +
			"selects. All other users have a passkey. Replace the domain and the handle of the " +
			"provider."},
		{Name: "risk-service", When: "Your own service assesses each sign-in. A risky one, or one that the service did not " +
			"assess, needs a passkey in addition to the password."},
		{Name: "consent-for-partners", When: "Applications of partners need the user's consent, which lasts three months. Set " +
			"requireConsent on these applications."},
		{Name: "terms-of-service", UserType: "person.yaml", When: "Users must accept new terms before they continue. Add the attribute terms_2026 of " +
			"user-types/person.yaml to your user type."},
	}
}
