package importer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// setClaims gives a client what it learns about users in ThunderID. Its members have the same names and meaning here,
// except for attributes that have the name of a standard claim here: these become claims with the former name.
func (s *thunderID) setClaims(r *Report, c *client, d thunderDocument, config map[string]any) {
	token := objectOf(member(config, "token"))
	id, access := objectOf(member(token, "idToken")), objectOf(member(token, "accessToken"))
	user := objectOf(member(config, "userInfo"))
	idNames, userNames := namesOf(id, "userAttributes"), namesOf(user, "userAttributes")
	accessNames := firstNames(namesOf(access, "userAttributes"), namesOf(objectOf(member(access, "userConfig")), "attributes"))

	scopes := objectOf(member(config, "scopeClaims"))
	for _, scope := range slices.Sorted(maps.Keys(scopes)) {
		if c.scopeClaims == nil {
			c.scopeClaims = map[string][]string{}
		}
		names := textsOf(scopes[scope])
		c.scopeClaims[scope] = unchangedNames(names)
		for _, name := range names {
			var targets []string
			if idNames == nil || slices.Contains(idNames, name) {
				targets = append(targets, claims.IDToken)
			}
			if userNames == nil || slices.Contains(userNames, name) {
				targets = append(targets, claims.UserInfo)
			}
			c.addRenamed(name, targets, scope)
		}
	}
	for _, name := range accessNames {
		c.addRenamed(name, []string{claims.AccessToken})
	}
	assertion := objectOf(d.get("assertion"))
	for _, name := range namesOf(assertion, "userAttributes") {
		c.addRenamed(name, []string{claims.Assertion})
	}
	c.assertion = unchangedNames(namesOf(assertion, "userAttributes"))
	c.userInfo = unchangedNames(userNames)
	c.setToken("idToken", "userAttributes", unchangedNames(idNames))
	c.setToken("accessToken", "userAttributes", unchangedNames(accessNames))
	for _, kind := range []string{"accessToken", "idToken", "refreshToken"} {
		if period, is := member(objectOf(member(token, kind)), "validityPeriod").(int); is && period > 0 {
			c.setToken(kind, "validityPeriod", period)
		}
	}
	c.scopes = namesOf(config, "scopes")
	reportOthers(r, c.clientID, "token", token, "accessToken", "idToken", "refreshToken")
	reportOthers(r, c.clientID, "token.idToken", id, "userAttributes", "validityPeriod")
	reportOthers(r, c.clientID, "token.accessToken", access, "userAttributes", "userConfig", "validityPeriod")
	reportOthers(r, c.clientID, "token.accessToken.userConfig", objectOf(member(access, "userConfig")), "attributes")
	reportOthers(r, c.clientID, "token.refreshToken", objectOf(member(token, "refreshToken")), "validityPeriod")
	reportOthers(r, c.clientID, "userInfo", user, "userAttributes")
}

// addRenamed adds a claim for an attribute that has another name here.
func (c *client) addRenamed(name string, targets []string, scopes ...string) {
	attribute := thunderClaim(name)
	if attribute == name || len(targets) == 0 {
		return
	}
	for i := range c.claims {
		if e := &c.claims[i]; e.Path[0] == name && slices.Equal(e.Targets, targets) {
			e.Scopes = append(e.Scopes, scopes...)
			return
		}
	}
	c.claims = append(c.claims, schemas.Claim{Path: []string{name}, Source: "attribute", Attribute: attribute, Targets: targets, Scopes: scopes})
}

// unchangedNames returns the names of claims without those of attributes that have another name here; nil for nil.
func unchangedNames(names []string) []string {
	if names == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return thunderClaim(name) != name })
}

// namesOf returns a list of names; nil if there is none.
func namesOf(object map[string]any, name string) []string {
	if _, is := member(object, name).([]any); !is {
		return nil
	}
	return append([]string{}, textsOf(member(object, name))...)
}

func firstNames(lists ...[]string) []string {
	for _, list := range lists {
		if list != nil {
			return list
		}
	}
	return nil
}

func objectOf(v any) map[string]any { object, _ := v.(map[string]any); return object }

// reportOthers reports the members of a part of a client's configuration that are not imported.
func reportOthers(r *Report, clientID, path string, part map[string]any, known ...string) {
	for _, name := range slices.Sorted(maps.Keys(part)) {
		read := slices.ContainsFunc(known, func(k string) bool { return plainName(k) == plainName(name) })
		if !read && !isEmpty(part[name]) {
			r.add("members that are not read", "application "+clientID, fmt.Sprintf("application.inboundAuthConfig.config.%s.%s", path, name), "")
		}
	}
}
