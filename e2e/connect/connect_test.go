package connect_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// refused stands for the rights of a user without access.
const refused = "no access"

// signIn signs a user in to a product, and returns the user's rights there.
type signIn func(t *testing.T, username string) (rights string)

// product is a product of docs/connect.
type product struct {
	page string
	// configure returns the sign-in of the product with the configuration of the page.
	configure func(t *testing.T, p *page, a application) signIn
	// rights are those of the members of a group, and with "" those of other users.
	rights map[string]string
	// first is the group to which the page adds the user ada.
	first string
}

func products() []product {
	return []product{
		{"kubernetes", kubernetes, map[string]string{"kubernetes-admins": "cluster-admin", "kubernetes-viewers": "view", "": refused}, "kubernetes-admins"},
		{"argocd", argoCD, map[string]string{"argocd-admins": "get sync delete", "argocd-deployers": "get sync", "argocd-viewers": "get", "": ""}, "argocd-admins"},
		{"grafana", grafana, map[string]string{"grafana-admins": "Admin", "grafana-editors": "Editor", "grafana-viewers": "Viewer", "": refused}, "grafana-admins"},
		{"gitlab", gitLab, map[string]string{"gitlab-admins": "administrator", "gitlab-users": "user", "": refused}, "gitlab-admins"},
		{"gitea", gitea, map[string]string{"gitea-admins": "administrator", "gitea-users": "user", "": refused}, "gitea-admins"},
		{"minio", minIO, map[string]string{"minio-readwrite": "readwrite", "minio-consoleAdmin": "consoleAdmin", "": refused}, "minio-readwrite"},
		{"nextcloud", nextcloud, map[string]string{"nextcloud-admin": "admin", "nextcloud-sales": "sales", "": refused}, "nextcloud-admin"},
		{"jenkins", jenkins, map[string]string{"jenkins-admins": "Overall/Administer", "jenkins-developers": "Overall/Read Job/Read Job/Build Job/Cancel", "": ""}, "jenkins-admins"},
	}
}

// TestGroupsGiveRights: with the commands and the configuration of its page, each product gives a user the rights of the
// user's groups: to members and members of nested groups only, and not to a user who has left.
func TestGroupsGiveRights(t *testing.T) {
	running.createUser(t, "ada")
	for _, tt := range products() {
		t.Run(tt.page, func(t *testing.T) {
			t.Parallel()
			p := readPage(t, tt.page)
			rights := tt.configure(t, p, running.create(t, p))
			created := p.block("postern group create ")
			running.run(t, created)
			check := func(who, username, want string) {
				t.Helper()
				if got := rights(t, username); got != want {
					t.Errorf("%s has the rights %q, expected %q", who, got, want)
				}
			}
			check("the user of the page", "ada", tt.rights[tt.first])
			for i, group := range slices.Sorted(maps.Keys(tt.rights)) {
				user := fmt.Sprintf("%s-%d", tt.page, i)
				running.createUser(t, user)
				if group != "" && !strings.Contains(created, "group create "+group+"\n") {
					running.run(t, "postern group create "+group)
				}
				if group != "" {
					running.run(t, fmt.Sprintf("postern group add-member %s --user %s", group, user))
				}
				check("a member of "+group, user, tt.rights[group])
			}
			nested, team := tt.page+"-nested", "team-of-"+tt.page
			running.createUser(t, nested)
			running.run(t, fmt.Sprintf("postern group create %[1]s && postern group add-member %[1]s --user %[2]s && postern group add-member %[3]s --group %[1]s", team, nested, tt.first))
			check("a member of a nested group", nested, tt.rights[tt.first])
			running.run(t, fmt.Sprintf("postern group remove-member %s --group %s", tt.first, team))
			check("a member of a group that has left", nested, tt.rights[""])
			running.run(t, fmt.Sprintf("postern group remove-member %s --user ada", tt.first))
			check("a user who has left", "ada", tt.rights[""])
		})
	}
}
