package oauth

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/schemas"
)

// Client metadata documents
//
// A client whose id is an https URL is not registered: its metadata is the document at that URL
// (draft-ietf-oauth-client-id-metadata-document). Control of the URL identifies the client; all
// else in the document is its own claim.
//
// The first authorization request fetches the document and creates an application from it, so that
// flows, consents, tokens and the audit log treat it like any other. It is stored while it is in
// use (see ClientExpiry), and the document is fetched again when it is stale: the client may have
// new keys by then, or may have lost redirect URIs.
//
// Only an authorization request creates an application. The number per network is limited, and the
// oldest unused ones are removed first.

// Limits of documents.
const (
	// DocumentBytes is the size of the largest document.
	DocumentBytes     = 5 << 10
	maxClientIDLength = 200

	minFreshness     = time.Minute // whatever the document's Cache-Control is
	maxFreshness     = 24 * time.Hour
	defaultFreshness = time.Hour
	// maxStaleness is how long a document is used if it cannot be fetched again because of a
	// temporary problem.
	maxStaleness = 7 * 24 * time.Hour
)

// isDocumentID reports whether a client id is the address of a document. http is possible only on
// this machine: see outbound.Rules.
func isDocumentID(id string) bool {
	return strings.HasPrefix(id, "https://") || strings.HasPrefix(id, "http://")
}

// checkDocumentID checks a client id that is a URL. Two spellings are two clients, so only the normal
// form is accepted.
func checkDocumentID(id string) error {
	if len(id) > maxClientIDLength {
		return errorf(codeInvalidClient, "the client_id must be a URL of at most %d characters", maxClientIDLength).refusing("client_id", id)
	}
	normal, err := schemas.NormalURL(id)
	switch {
	case err != nil:
		return errorf(codeInvalidClient, "the client_id is not the URL of a metadata document: %s", err).refusing("client_id", id)
	case normal == id+"/":
		return errorf(codeInvalidClient, "expected a client_id with a path, such as https://client.example.com/metadata.json").refusing("client_id", id)
	case normal != id:
		return errorf(codeInvalidClient, "the client_id is another spelling of %s: use that, also in the metadata document", normal).refusing("client_id", id)
	}
	return nil
}

// refreshClient ensures that a client with a document is current, and fetches that of an unknown
// client if create is true. It ignores other clients.
func (p *Provider) refreshClient(ctx context.Context, id string, create bool) error {
	if err := p.Documents.check(id); err != nil || !isDocumentID(id) {
		return err
	}
	expiry, err := p.Clients.ClientExpiry(ctx, id)
	if err != nil || expiry == nil && !create {
		return err
	}
	if err := checkDocumentID(id); err != nil { // also of a client that an earlier release stored
		return err
	}
	if expiry != nil && p.now().Before(expiry.FreshUntil) {
		return nil
	}
	err = p.fetches.once(ctx, id, func(ctx context.Context) error { return p.fetchClientDocument(ctx, id, expiry) })
	if reported, ok := errors.AsType[*Error](err); ok {
		refused := *reported // others share it
		return refused.refusing("client_id", id)
	}
	return err
}

// fetchClientDocument fetches the document of a client and stores its contents.
func (p *Provider) fetchClientDocument(ctx context.Context, id string, expiry *schemas.ClientExpiry) error {
	if expiry == nil {
		if err := p.AdmitFetch(ctx); err != nil {
			return err
		}
	}
	m, fresh, err := p.fetchDocument(ctx, id)
	if err == nil {
		err = p.reduce(m, expiry != nil)
	}
	now := p.now()
	if schemas.HasClass(err, schemas.Unavailable) && expiry != nil && now.Before(expiry.FetchedAt.Add(maxStaleness)) {
		stale := *expiry
		stale.FreshUntil = now.Add(minFreshness)
		return p.writeDocument(ctx, id, nil, stale)
	}
	if err != nil {
		return explainDocument(err)
	}
	renewed := schemas.ClientExpiry{ExpiresAt: now.Add(requestTTLAsked), FetchedAt: now, FreshUntil: now.Add(fresh)}
	if expiry != nil && renewed.ExpiresAt.Before(expiry.ExpiresAt) {
		renewed.ExpiresAt = expiry.ExpiresAt
	}
	if err := p.writeDocument(ctx, id, m, renewed); err != nil || expiry == nil {
		return explainDocument(err)
	}
	return p.recordReduced(ctx, id, m)
}

// explainDocument returns the error of an unavailable document.
func explainDocument(err error) error {
	if err == nil {
		return nil
	}
	if reported, worded := errors.AsType[*Error](err); worded {
		return errorf(codeInvalidClient, "%s", reported.Description)
	}
	if e := schemas.AsError(err); e.Code == outbound.CodeRefused || e.Code == outbound.CodeFailed {
		return errorf(codeInvalidClient, "the metadata document of the client cannot be read: %s", e.Description.DefaultValue)
	}
	return err
}

// fetchDocument reads a client's document and its freshness.
func (p *Provider) fetchDocument(ctx context.Context, id string) (*clientMetadata, time.Duration, error) {
	listed := p.Documents.lists(id)
	if !listed { // anyone can cause the request, so outbound.allow does not apply
		ctx = outbound.OnlyPublic(ctx)
	}
	published, err := p.FetchDocument(ctx, id)
	if schemas.HasCode(err, outbound.CodeRefused) && !listed {
		e := schemas.AsError(err)
		return nil, 0, schemas.Errorf(e.Class, e.Code, "%s; a private host must also be in oauth.client_metadata_documents.allowed_hosts", e.Description.DefaultValue)
	}
	if err != nil {
		return nil, 0, err
	}
	kind, _, err := mime.ParseMediaType(published.Header.Get("Content-Type"))
	switch {
	case published.Status >= http.StatusInternalServerError || published.Status == http.StatusTooManyRequests:
		return nil, 0, schemas.Errorf(schemas.Unavailable, outbound.CodeFailed, "its server answers with the status %d", published.Status)
	case published.Status != http.StatusOK:
		return nil, 0, errorf(codeInvalidClient, "the metadata document of the client cannot be read: expected the status 200, got %d", published.Status)
	case err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		return nil, 0, errorf(codeInvalidClient, "expected the metadata document of the client as application/json")
	case len(published.Body) > DocumentBytes:
		return nil, 0, errorf(codeInvalidClient, "expected a metadata document of at most %d bytes", DocumentBytes)
	}
	m, err := readDocument(id, published.Body)
	return m, freshness(published.Header), err
}

// readDocument parses a document. It must name its own address: otherwise anyone who can publish a
// file on a host could impersonate others there.
func readDocument(id string, text []byte) (*clientMetadata, error) {
	m, err := readMetadata(text)
	if err != nil {
		return nil, err
	}
	m.AuthMethod = cmp.Or(m.AuthMethod, schemas.AuthMethodNone)
	switch {
	case m.ClientID != id:
		return nil, errorf(codeInvalidClient, "the client_id in the metadata document is not the URL it was fetched from")
	case m.ClientSecret != "" || m.ClientSecretExpires != nil:
		return nil, errorf(codeInvalidClient, "the metadata document contains a client_secret, which anyone can read: remove it, and use private_key_jwt or none")
	case m.AuthMethod != schemas.AuthMethodNone && m.AuthMethod != schemas.AuthMethodPrivateKeyJWT:
		return nil, errorf(codeInvalidClient, "the token_endpoint_auth_method of a client with a metadata document must be %s or %s", schemas.AuthMethodNone, schemas.AuthMethodPrivateKeyJWT)
	}
	return m, m.settle(untrustedClientGrants())
}

// freshness returns how long a document need not be fetched again: RFC 9111 §5.2.2, within limits.
func freshness(h http.Header) time.Duration {
	fresh := defaultFreshness
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "no-store", "no-cache":
			return minFreshness
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err != nil {
				return minFreshness
			}
			fresh = time.Duration(seconds) * time.Second
		}
	}
	return min(max(fresh, minFreshness), maxFreshness)
}

// writeDocument creates or updates the application of a client. What the document does not contain
// stays as the administrator set it. Without a document only the expiry is written.
func (p *Provider) writeDocument(ctx context.Context, id string, m *clientMetadata, expiry schemas.ClientExpiry) error {
	r := directory.Registration{By: schemas.RegisteredByDocument, Lease: &expiry}
	known, err := p.Clients.Client(ctx, id)
	switch {
	case err == nil:
		r.Application = *known
		r.Application.InboundAuthConfig = slices.Clone(known.InboundAuthConfig)
	case !schemas.HasClass(err, schemas.NotFound):
		return err
	case m == nil:
		return nil // removed concurrently
	}
	if m != nil {
		scopes, err := p.scopes(ctx, m, false)
		if err != nil {
			return err
		}
		r.Application.ClientID, r.Detail = id, m.detail()
		m.describeIn(&r.Application, scopes)
	}
	_, err = p.Clients.Register(ctx, directory.UntrustedCall(), r)
	if schemas.HasClass(err, schemas.Conflict) {
		return nil // another instance was faster
	}
	return explainRegistration(err)
}

// DocumentPolicy restricts which clients can identify themselves with a metadata document. The zero
// value accepts all.
type DocumentPolicy struct {
	Disabled bool
	// Hosts are the accepted hosts, in lower case and without ports. Empty: all.
	Hosts []string
}

// Admits reports whether the client may use the server. Client ids that are not URLs are always
// accepted.
func (d DocumentPolicy) Admits(clientID string) bool { return d.check(clientID) == nil }

// Restricts reports whether the policy excludes any client.
func (d DocumentPolicy) Restricts() bool { return d.Disabled || len(d.Hosts) > 0 }

// check is Admits with the reason. It also applies to known clients.
func (d DocumentPolicy) check(clientID string) error {
	switch {
	case !isDocumentID(clientID), !d.Restricts():
		return nil
	case d.Disabled:
		return errorf(codeInvalidClient, "this server does not accept client metadata documents: an administrator must register the client, or enable oauth.client_metadata_documents").refusing("client_id", clientID)
	}
	if !d.lists(clientID) {
		return errorf(codeInvalidClient, "this server does not accept metadata documents from this host: an administrator must register the client, or list the host in oauth.client_metadata_documents.allowed_hosts").refusing("client_id", clientID)
	}
	return nil
}

// lists reports whether Hosts contains the host of a document.
func (d DocumentPolicy) lists(clientID string) bool {
	u, err := url.Parse(clientID)
	return err == nil && slices.Contains(d.Hosts, strings.ToLower(u.Hostname()))
}
