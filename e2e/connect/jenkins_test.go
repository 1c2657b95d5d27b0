package connect_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// realm is the configuration as code of Jenkins.
type realm struct {
	Jenkins struct {
		SecurityRealm struct {
			OIC struct {
				ClientID, ClientSecret         string
				PKCEEnabled                    bool
				UserNameField, GroupsFieldName string
				ServerConfiguration            struct {
					WellKnown struct{ ScopesOverride string }
				}
			}
		}
		AuthorizationStrategy struct {
			GlobalMatrix struct {
				Entries []struct {
					Group struct {
						Name        string
						Permissions []string
					}
				}
			}
		}
	}
}

// jenkins signs a user in, evaluates its fields over the userinfo, and looks the groups up in the matrix.
func jenkins(t *testing.T, p *page, a application) signIn {
	config := readYAML[realm](t, a.fill(p.block("globalMatrix")))[0].Jenkins
	oic := config.SecurityRealm.OIC
	c := newClient(a, oauth2.AuthStyleInHeader, oic.PKCEEnabled, strings.Fields(oic.ServerConfiguration.WellKnown.ScopesOverride)...)
	c.Config.ClientID, c.Config.ClientSecret = oic.ClientID, oic.ClientSecret
	return func(t *testing.T, username string) string {
		info := c.userinfo(t, c.signIn(t, username))
		if id, isText := search(t, oic.UserNameField, info).(string); !isText || id != info["sub"] {
			t.Errorf("the name of the user is %v", id)
		}
		groups := texts(search(t, oic.GroupsFieldName, info))
		var permissions []string
		for _, entry := range config.AuthorizationStrategy.GlobalMatrix.Entries {
			if slices.Contains(groups, entry.Group.Name) {
				permissions = append(permissions, entry.Group.Permissions...)
			}
		}
		return strings.Join(permissions, " ")
	}
}
