// Package claims computes what applications learn about a user: the claims of ID tokens, userinfo, access
// tokens, introspection and assertions.
//
// A claim is declared by the application (schemas.Claim), or it is a standard claim that a scope releases.
// A resource server declares claims of its access tokens in the same way.
// All are computed by the same functions: the short forms of an application, such as scopeClaims, are read as
// claims (see Of). A source is one entry of Sources, a target one of Targets, and a scope one of
// schemas.AllIdentityScopes. The JSON Schema of applications, and with it the form of the console, the
// OpenAPI document and the table of docs/claims.md, follow from these.
package claims
