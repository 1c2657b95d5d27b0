package server_test

import "strings"

// badBodies are those that are bad for one kind of resource.
func badBodies() map[string][]bad {
	return map[string][]bad{
		"organizationUnits": badUnits(),
		"userTypes":         badUserTypes(),
		"resourceServers":   badServers(),
		"identityProviders": badProviders(),
		"flows":             badFlows(),
		"applications":      badApplications(),
		"users":             badUsers(),
		"groups":            badGroups(),
		"roles":             badRoles(),
	}
}

func badUnits() []bad {
	return []bad{
		{`{"handle":"","name":"x"}`, "handle", "expected lower-case letters, digits, dashes and underscores", 0},
		{`{"handle":"Upper","name":"x"}`, "handle", "expected lower-case letters", 0},
		{`{"handle":"-a","name":"x"}`, "handle", "starting and ending with a letter or digit", 0},
		{`{"handle":"a b","name":"x"}`, "handle", "expected lower-case letters", 0},
		{`{"handle":"` + strings.Repeat("a", 101) + `","name":"x"}`, "handle", "expected at most 100", 0},
		{`{"handle":"ok","name":""}`, "name", "expected", 0},
		{`{"handle":"ok","name":" \t"}`, "name", "expected a name that is not blank", 0},
		{`{"handle":"ok","name":"a\u0000b"}`, "name", "NUL cannot be stored", 0},
		{`{"handle":"ok","name":"` + strings.Repeat("n", 201) + `"}`, "name", "expected at most 200", 0},
		{`{"handle":"ok","name":"x","description":7}`, "description", "expected a string, got", 0},
		{`{"handle":"ok","name":"x","description":"` + strings.Repeat("d", 2001) + `"}`, "description", "expected at most 2000", 0},
		{`{"handle":"ok","name":"x","parentId":"<nobody>"}`, "parentId", "no organization", 0},
		{`{"handle":"ok","name":"x","parentId":"\u0000"}`, "parentId", "NUL cannot be stored; remove it", 0},
		{`{"handle":"ok","name":"x","parentId":{"id":"<unit>"}}`, "parentId", "expected a string, got an object", 0},
		{`{"handle":"ok","name":"x","parent":"<unit>"}`, "parent", `did you mean "parentId"?`, 0},
		{`{"handle":"unittaken","name":"x"}`, "handle", "choose a different one", 409},
		{`{"handle":"default","name":"x"}`, "handle", "choose a different one", 409},
	}
}

func badProviders() []bad {
	const rest = `"name":"x","clientId":"postern"`
	const issuer = `"issuer":"https://login.example.com"`
	return []bad{
		{`{"handle":"Upper",` + rest + `,` + issuer + `}`, "handle", "expected lower-case letters", 0},
		{`{"handle":"providertaken",` + rest + `,` + issuer + `}`, "handle", "choose a different one", 409},
		{`{"handle":"ok",` + rest + `}`, "issuer", "is missing", 0},
		{`{"handle":"ok",` + rest + `,"issuer":"http://login.example.com"}`, "issuer", "expected an https:// URL", 0},
		{`{"handle":"ok",` + rest + `,"issuer":"login.example.com"}`, "issuer", "expected an https:// URL", 0},
		{`{"handle":"ok",` + rest + `,"issuer":"https://login.example.com?tenant=a"}`, "issuer", "expected no query", 0},
		{`{"handle":"ok",` + rest + `,"issuer":"https://login.example.com#"}`, "issuer", "expected no query", 0},
		{`{"handle":"ok",` + rest + `,"issuer":"https://ann:secret@login.example.com"}`, "issuer", "no name or password", 0},
		{`{"handle":"ok",` + rest + `,"issuer":"https://"}`, "issuer", "expected a host", 0},
		{`{"handle":"ok",` + rest + `,"issuer":"https://login.example.com/a b"}`, "issuer", "without spaces", 0},
		{`{"handle":"ok",` + rest + `,` + issuer + `,"scopes":[]}`, "scopes", "expected", 0},
		{`{"handle":"ok",` + rest + `,` + issuer + `,"scopes":["email"]}`, "scopes", `expected "openid" among them`, 0},
		{`{"handle":"ok",` + rest + `,` + issuer + `,"scopes":["openid","e mail"]}`, "scopes[1]", "expected a scope", 0},
		{`{"handle":"ok",` + rest + `,` + issuer + `,"scopes":["openid","openid"]}`, "scopes[1]", "remove one", 0},
		{`{"handle":"ok",` + rest + `,` + issuer + `,"tokenEndpointAuthMethod":"private_key_jwt"}`, "tokenEndpointAuthMethod", "expected", 0},
		{`{"handle":"ok",` + rest + `,` + issuer + `,"tokenEndpointAuthMethod":"none","clientSecret":"x"}`, "clientSecret", "no secret is used", 0},
		{`{"handle":"ok",` + rest + `,` + issuer + `,"clientSecret":""}`, "clientSecret", "expected", 0},
		{`{"handle":"ok",` + rest + `,` + issuer + `,"clientSecret":"a\u0001b"}`, "clientSecret", "printable", 0},
		{`{"handle":"ok",` + rest + `,` + issuer + `,"secret":"x"}`, "secret", "unknown member", 0},
		{`{"handle":"ok",` + rest + `,` + issuer + `,"tokenEndpoint":"https://login.example.com/token"}`, "tokenEndpoint", "unknown member", 0},
	}
}

func badGroups() []bad {
	return []bad{
		{`{"name":""}`, "name", "expected", 0},
		{`{"name":"   "}`, "name", "expected a name that is not blank", 0},
		{`{"name":"` + strings.Repeat("n", 201) + `"}`, "name", "expected at most 200", 0},
		{`{"name":"x","description":["d"]}`, "description", "expected a string, got a list", 0},
		{`{"name":"x","ouId":"<nobody>"}`, "ouId", "no organization", 0},
		{`{"name":"x","ouId":7}`, "ouId", "expected a string", 0},
		{`{"name":"x","members":{}}`, "members", "expected a list, got an object", 0},
		{`{"name":"x","members":["<unit>"]}`, "members[0]", "expected an object, got a string", 0},
		{`{"name":"x","members":[{}]}`, "members[0].id", "is missing", 0},
		{`{"name":"x","members":[{"type":"robot","id":"y"}]}`, "members[0].type", `expected "user" or "group"`, 0},
		{`{"name":"x","members":[{"type":"application","id":"y"}]}`, "members[0].type", `expected "user" or "group"`, 0},
		{`{"name":"x","members":[{"type":"user","id":""}]}`, "members[0].id", "expected", 0},
		{`{"name":"x","members":[{"type":"user","id":"y","name":"z"}]}`, "members[0].name", "unknown member", 0},
		{`{"name":"x","members":[{"type":"user","id":"<nobody>"}]}`, "members[0].id", "there is no user", 0},
		{`{"name":"x","members":[{"type":"group","id":"<nobody>"}]}`, "members[0].id", "there is no group", 0},
		{`{"name":"x","members":[{"type":"user","id":"y"},{"type":"user","id":"y"}]}`, "members[1]", "remove one", 0},
		{`{"name":"x","member":[]}`, "member", `did you mean "members"?`, 0},
		{`{"name":"Group taken"}`, "name", "choose a different one", 409},
	}
}

func badRoles() []bad {
	return []bad{
		{`{"name":""}`, "name", "expected", 0},
		{`{"name":"\n"}`, "name", "expected a name that is not blank", 0},
		{`{"name":"x","description":{}}`, "description", "expected a string, got an object", 0},
		{`{"name":"x","ouId":"<nobody>"}`, "ouId", "no organization", 0},
		{`{"name":"x","permissions":"system"}`, "permissions", "expected a list, got a string", 0},
		{`{"name":"x","permissions":[7]}`, "permissions[0]", "expected a string, got", 0},
		{`{"name":"x","permissions":[""]}`, "permissions[0]", "expected", 0},
		{`{"name":"x","permissions":["system:user:read"]}`, "permissions[0]", `did you mean "system:users:read"?`, 0},
		{`{"name":"x","permissions":["system:users:read","books:read"]}`, "permissions[1]", "no resource server has a permission", 0},
		{`{"name":"x","permissions":["System"]}`, "permissions[0]", "no resource server has a permission", 0},
		{`{"name":"x","permissions":["system","system"]}`, "permissions[1]", "remove one", 0},
		{`{"name":"x","assignments":[{"type":"user","id":"<nobody>"}]}`, "assignments[0].id", "there is no user", 0},
		{`{"name":"x","assignments":[{"type":"application","id":"<nobody>"}]}`, "assignments[0].id", "there is no application", 0},
		{`{"name":"x","assignments":[{"type":"group","id":"<nobody>"}]}`, "assignments[0].id", "there is no group", 0},
		{`{"name":"x","assignments":[{"type":"role","id":"y"}]}`, "assignments[0].type", `expected "user", "group" or "application"`, 0},
		{`{"name":"x","assignments":[{"id":"y"}]}`, "assignments[0].type", "is missing", 0},
		{`{"name":"x","assignments":[null]}`, "assignments[0]", "expected an object, got null", 0},
		{`{"name":"x","assigments":[]}`, "assigments", `did you mean "assignments"?`, 0},
		{`{"name":"Role taken"}`, "name", "choose a different one", 409},
	}
}

func badServers() []bad {
	tree := func(resources string) string { return `{"handle":"ok","name":"x","resources":` + resources + `}` }
	return []bad{
		{`{"handle":"","name":"x"}`, "handle", "expected letters, digits, dashes, dots and underscores", 0},
		{`{"handle":"a:b","name":"x"}`, "handle", "expected letters", 0},
		{`{"handle":".a","name":"x"}`, "handle", "starting and ending with a letter or digit", 0},
		{`{"handle":"openid","name":"x"}`, "handle", "choose another", 0},
		{`{"handle":"offline_access","name":"x"}`, "handle", "choose another", 0},
		{`{"handle":"ok","name":""}`, "name", "expected", 0},
		{`{"handle":"ok","name":"x","ouId":"<nobody>"}`, "ouId", "no organization", 0},
		{`{"handle":"ok","name":"x","identifier":"api"}`, "identifier", "expected an absolute URI without a fragment", 0},
		{`{"handle":"ok","name":"x","identifier":"https://api.example.com/#a"}`, "identifier", "without a fragment", 0},
		{`{"handle":"ok","name":"x","isReadOnly":"yes"}`, "isReadOnly", "expected true or false", 0},
		{`{"handle":"ok","name":"x","permissions":"all"}`, "permissions", "expected a list", 0},
		{tree(`{}`), "resources", "expected a list, got an object", 0},
		{tree(`["books"]`), "resources[0]", "expected an object, got a string", 0},
		{tree(`[{}]`), "resources[0].handle", "is missing", 0},
		{tree(`[{"handle":"a:b"}]`), "resources[0].handle", "expected letters", 0},
		{tree(`[{"handle":"a"},{"handle":"a"}]`), "resources[1].handle", "choose another", 0},
		{tree(`[{"handle":"a","actions":[{"handle":"b"}],"resources":[{"handle":"b"}]}]`), "resources[0].resources[0].handle", "choose another", 0},
		{tree(`[{"handle":"a","actions":[{"name":"b"}]}]`), "resources[0].actions[0].handle", "is missing", 0},
		{tree(`[{"handle":"a","action":[]}]`), "resources[0].action", `did you mean "actions"?`, 0},
		{tree(strings.Repeat(`[{"handle":"a","resources":`, 11) + `[]` + strings.Repeat(`}]`, 11)), "resources[0].resources[0].resources[0].resources[0].resources[0].resources[0].resources[0].resources[0].resources[0].resources[0].resources", "move these up", 0},
		{`{"handle":"apitaken","name":"x"}`, "handle", "choose a different one", 409},
	}
}

func badFlows() []bad {
	flow := func(nodes string) string {
		return `{"handle":"ok","name":"x","flowType":"AUTHENTICATION","nodes":` + nodes + `}`
	}
	const key = `{"id":"key","use":"prove","next":"end"}`
	return []bad{
		{`{"handle":"A","name":"x","flowType":"AUTHENTICATION","nodes":[` + key + `]}`, "handle", "expected lower-case letters, digits", 0},
		{`{"handle":"a-","name":"x","flowType":"AUTHENTICATION","nodes":[` + key + `]}`, "handle", "starting and ending with a letter or digit", 0},
		{`{"handle":"ok","name":"","flowType":"AUTHENTICATION","nodes":[` + key + `]}`, "name", "expected", 0},
		{`{"handle":"ok","name":"x","nodes":[` + key + `]}`, "flowType", "is missing", 0},
		{`{"handle":"ok","name":"x","flowType":"LOGIN","nodes":[` + key + `]}`, "flowType", `expected "AUTHENTICATION", "REGISTRATION" or "SUBFLOW"`, 0},
		{`{"handle":"ok","name":"x","flow_type":"AUTHENTICATION","flowType":"AUTHENTICATION","nodes":[` + key + `]}`, "flow_type", `did you mean "flowType"?`, 0},
		{`{"handle":"ok","name":"x","flowType":"AUTHENTICATION"}`, "nodes", "is missing", 0},
		{flow(`[]`), "nodes", "expected", 0},
		{flow(`{}`), "nodes", "expected a list, got an object", 0},
		{flow(`[{}]`), "nodes[0].id", "is missing", 0},
		{flow(`[{"id":"key","next":"end"}]`), "nodes[0].use", "is missing", 0},
		{flow(`[{"id":"end","use":"prove","next":"end"}]`), "nodes[0].id", "expected another id", 0},
		{flow(`[{"id":"7","use":"prove","next":"end"}]`), "nodes[0].id", "expected a node id: a letter", 0},
		{flow(`[` + key + `,` + key + `]`), "nodes[1].id", "ids must be unique", 0},
		{flow(`[{"id":"key","use":"prov","next":"end"}]`), "nodes[0].use", `did you mean "prove"?`, 0},
		{flow(`[{"id":"key","use":"prove","next":"nowhere"}]`), "nodes[0].next", "expected one of end, key", 0},
		{flow(`[{"id":"key","use":"prove","next":{"success":"end","sucess":"end"}}]`), "nodes[0].next.sucess", `did you mean "success"?`, 0},
		{flow(`[{"id":"key","use":"prove","next":{"failure":"end"}}]`), "nodes[0].next", "add `success: <node id>` to `next`", 0},
		{flow(`[{"id":"key","use":"prove","nxt":"end"}]`), "nodes[0].nxt", `did you mean "next"?`, 0},
		{flow(`[{"id":"key","use":"prove","next":7}]`), "nodes[0].next", "expected", 0},
		{flow(`[` + key + `,{"id":"lost","use":"form","next":"end"}]`), "nodes[0].next", "name it in the `next` of another node", 0},
		{flow(`[{"id":"who","use":"form","next":"end"}]`), "nodes[0].next", "lead it to a node that authenticates", 0},
		{flow(`[{"id":"done","use":"finish"}]`), "nodes[0]", "needs an authenticated user, but not every path to it provides one", 0},
		{`{"handle":"ok","name":"x","flowType":"AUTHENTICATION","waive":[{"rule":"takeover","node":"key"}],"nodes":[` + key + `]}`, "waive[0].reason", "is missing", 0},
		{`{"handle":"ok","name":"x","flowType":"AUTHENTICATION","waive":[{"rule":"unauthenticated","node":"key","reason":"x"}],"nodes":[` + key + `]}`, "waive[0].rule", `expected "takeover"`, 0},
		{`{"handle":"flowtaken","name":"x","flowType":"AUTHENTICATION","nodes":[` + key + `]}`, "handle", "choose another", 409},
	}
}

func badApplications() []bad {
	const in = "inboundAuthConfig[0].config"
	client := func(config string) string {
		return `{"name":"x","inboundAuthConfig":[{"type":"oauth2","config":` + config + `}]}`
	}
	web := func(uri string) string { return client(`{"redirectUris":["` + uri + `"]}`) }
	m2m := func(more string) string { return client(`{"grantTypes":["client_credentials"]` + more + `}`) }
	return []bad{
		{`{"name":" "}`, "name", "expected a name that is not blank", 0},
		{`{"name":"x","type":"WEB"}`, "type", `expected "SPA", "MOBILE", "SERVER" or "M2M"`, 0},
		{`{"name":"x","ouId":"<nobody>"}`, "ouId", "no organization", 0},
		{`{"name":"x","url":"shop"}`, "url", "expected", 0},
		{`{"name":"x","logoUrl":"javascript:alert(1)"}`, "logoUrl", "expected", 0},
		{`{"name":"x","authFlowId":"<nobody>"}`, "authFlowId", "there is no flow", 0},
		{`{"name":"x","authFlowId":"<registration>"}`, "authFlowId", "expected a flow of the type AUTHENTICATION", 0},
		{`{"name":"x","recoveryFlowId":"nothing"}`, "recoveryFlowId", `no flow with the id "nothing", and no AUTHENTICATION flow with this handle`, 0},
		{`{"name":"x","registrationFlowId":"<authentication>"}`, "registrationFlowId", "expected a flow of the type REGISTRATION", 0},
		{`{"name":"x","isRegistrationFlowEnabled":"yes"}`, "isRegistrationFlowEnabled", "expected true or false", 0},
		{`{"name":"x","allowedUserTypes":["Persn"]}`, "allowedUserTypes[0]", "there is no user type", 0},
		{`{"name":"x","passkeyAllowedOrigins":["https://a.example/path"]}`, "passkeyAllowedOrigins[0]", "expected an origin such as https://app.example.com", 0},
		{`{"name":"x","passkeyAllowedOrigins":["http://a.example"]}`, "passkeyAllowedOrigins[0]", "expected https://", 0},
		{`{"name":"x","assertion":{"validityPeriod":-1}}`, "assertion.validityPeriod", "expected at least 0", 0},
		{`{"name":"x","assertion":{"validityPeriod":"1h"}}`, "assertion.validityPeriod", "expected", 0},
		{`{"name":"x","customizations":[]}`, "customizations", "expected an object, got a list", 0},
		{`{"name":"x","contacts":"a@example.com"}`, "contacts", "expected a list, got a string", 0},
		{`{"name":"x","clientId":"a"}`, "clientId", "add inboundAuthConfig", 0},
		{`{"name":"x","clientSecret":"short"}`, "clientSecret", "expected at least 32", 0},
		{`{"name":"x","inboundAuthConfig":{"type":"oauth2"}}`, "inboundAuthConfig", "expected a list, got an object", 0},
		{`{"name":"x","inboundAuthConfig":[{"type":"saml"}]}`, "inboundAuthConfig[0].type", `expected "oauth2"`, 0},
		{`{"name":"x","inboundAuthConfig":[{"type":"oauth2"},{"type":"oauth2"}]}`, "inboundAuthConfig", "expected at most 1", 0},
		{client(`{}`), in + ".redirectUris", "expected at least one", 0},
		{client(`{"grantTypes":["password"]}`), in + ".grantTypes[0]", "expected", 0},
		{client(`{"grantTypes":["refresh_token"]}`), in + ".grantTypes", "needs authorization_code", 0},
		{client(`{"grant_types":["client_credentials"]}`), in + ".grant_types", `did you mean "grantTypes"?`, 0},
		{web("/callback"), in + ".redirectUris[0]", "expected an absolute URI", 0},
		{web("http://app.example.com/cb"), in + ".redirectUris[0]", "expected https://", 0},
		{web("https://*.example.com/cb"), in + ".redirectUris[0]", "list each", 0},
		{web("https://app.example.com/cb#x"), in + ".redirectUris[0]", "expected no fragment", 0},
		{web("javascript:alert(1)"), in + ".redirectUris[0]", "expected https://", 0},
		{m2m(`,"publicClient":true`), in + ".grantTypes", "a public client has no credentials", 0},
		{m2m(`,"tokenEndpointAuthMethod":"none"`), in + ".grantTypes", "give the client a way to authenticate", 0},
		{m2m(`,"tokenEndpointAuthMethod":"tls"`), in + ".tokenEndpointAuthMethod", "expected", 0},
		{m2m(`,"tokenEndpointAuthMethod":"private_key_jwt"`), in + ".tokenEndpointAuthMethod", "set jwks or jwksUri", 0},
		{m2m(`,"scopes":["systm"]`), in + ".scopes[0]", `did you mean "system"?`, 0},
		{m2m(`,"scope":"system","scopes":["openid"]`), in + ".scope", "leave one of the two out", 0},
		{m2m(`,"token":{"accessToken":{"validityPeriod":1}}`), in + ".token.accessToken.validityPeriod", "expected at least 10 seconds", 0},
		{m2m(`,"token":{"idToken":{"signedResponseAlg":"HS256"}}`), in + ".token.idToken.signedResponseAlg", "expected", 0},
		{m2m(`,"clientId":"https://a.example/client"`), in + ".clientId", "choose another", 0},
		{m2m(`,"clientSecret":7`), in + ".clientSecret", "expected a string", 0},
		{`{"name":"App taken"}`, "name", "choose a different one", 409},
		{m2m(`,"clientId":"TAKEN"`), in + ".clientId", "choose another", 409},
	}
}

func badUserTypes() []bad {
	of := func(schema string) string { return `{"name":"x","schema":` + schema + `}` }
	property := func(schema string) string {
		return of(`{"type":"object","properties":{"a":` + schema + `}}`)
	}
	return []bad{
		{`{"name":"","schema":{"type":"object"}}`, "name", "expected", 0},
		{`{"name":"x","schema":{"type":"object"},"ouId":"<nobody>"}`, "ouId", "no organization", 0},
		{`{"name":"x","schema":{"type":"object"},"description":7}`, "description", "expected a string", 0},
		{`{"name":"x"}`, "schema", "is missing", 0},
		{`{"name":"x","shema":{"type":"object"}}`, "shema", `did you mean "schema"?`, 0},
		{of(`{}`), "schema", "expected", 0},
		{of(`true`), "schema", "expected an object", 0},
		{of(`"{}"`), "schema", "expected an object, got a string", 0},
		{of(`{"type":"string"}`), "schema", `expected "type": "object"`, 0},
		{of(`{"type":"objct"}`), "schema.type", `"object"`, 0},
		{of(`{"type":"object","properties":[]}`), "schema.properties", "expected", 0},
		{of(`{"type":"object","required":"username"}`), "schema.required", "expected", 0},
		{of(`{"type":"object","$ref":"https://example.com/schema"}`), "schema.$ref", "refer to a definition at the top of the schema", 0},
		{property(`{"type":"text"}`), "schema.properties.a.type", `"string"`, 0},
		{property(`{"minLength":-1}`), "schema.properties.a.minLength", "0", 0},
		{property(`{"pattern":"("}`), "schema.properties.a.pattern", "regex", 0},
		{property(`{"type":"string","x-credential":true}`), `schema.properties.a.x-credential`, "password", 0},
		{property(`{"type":"string","x-unique":"yes"}`), "schema.properties.a.x-unique", "expected true or false", 0},
		{property(`{"type":"string","x-uniqe":true}`), "schema.properties.a.x-uniqe", `did you mean "x-unique"?`, 0},
		{property(`{"minLenght":3}`), "schema.properties.a.minLenght", `did you mean "minLength"?`, 0},
		{`{"name":"Typetaken","schema":{"type":"object"}}`, "name", "choose a different one", 409},
		{`{"name":"Person","schema":{"type":"object"}}`, "name", "choose a different one", 409},
	}
}

func badUsers() []bad {
	with := func(attributes string) string { return `{"type":"Person","attributes":` + attributes + `}` }
	return []bad{
		{`{"type":"","attributes":{"username":"x"}}`, "type", "expected", 0},
		{`{"type":"Persn","attributes":{"username":"x"}}`, "type", "there is no user type", 0},
		{`{"type":"person","attributes":{"username":"x"}}`, "type", "there is no user type", 0},
		{`{"type":"Person","ouId":"<nobody>","attributes":{"username":"x"}}`, "ouId", "no organization", 0},
		{`{"type":"Person","username":"x"}`, "username", "unknown member", 0},
		{`{"type":"Person","attribute":{"username":"x"}}`, "attribute", `did you mean "attributes"?`, 0},
		{with(`[]`), "attributes", "expected an object, got a list", 0},
		{with(`7`), "attributes", "expected an object, got a number", 0},
		{with(`{"username":7}`), "attributes.username", "expected a string, got", 0},
		{with(`{"username":""}`), "attributes.username", "expected", 0},
		{with(`{"username":"a\nb"}`), "attributes.username", "invisible character (U+000A). Remove it", 0},
		{with(`{"username":"a\u0000b"}`), "attributes.username", "NUL cannot be stored; remove it", 0},
		{with(`{"username":"x","email":"nobody"}`), "attributes.email", "Expected one like name@example.com", 0},
		{with(`{"username":"x","email":["a@example.com"]}`), "attributes.email", "expected a string, got a list", 0},
		{with(`{"username":"x","usrname":"y"}`), "attributes.usrname", `did you mean "username"?`, 0},
		{with(`{"username":"x","is_admin":true}`), "attributes.is_admin", "unknown member", 0},
		{with(`{"username":"x","given_name":{"first":"a"}}`), "attributes.given_name", "expected a string, got an object", 0},
		{with(`{"username":"x","given_name":"` + strings.Repeat("n", 40000) + `"}`), "attributes", "expected at most", 0},
		{with(`{"username":"x","password":7}`), "attributes.password", "expected a string", 0},
		{with(`{"username":"x","password":"` + strings.Repeat("p", 5000) + `"}`), "attributes.password", "expected", 0},
		{with(`{"username":"usertaken"}`), "attributes.username", "choose a different one", 409},
		{with(`{"username":"USERTAKEN"}`), "attributes.username", "choose a different one", 409},
		{with(`{"username":"x","email":"usertaken@example.com","email_verified":true}`), "attributes.email", "choose a different one", 409},
	}
}
