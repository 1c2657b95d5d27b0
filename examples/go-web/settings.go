package main

import (
	"cmp"
	"os"
	"strings"
)

// The server, and this application. The defaults fit `make run`.
var (
	issuer        = cmp.Or(os.Getenv("ISSUER"), "http://localhost:8090")
	clientID      = cmp.Or(os.Getenv("CLIENT_ID"), "EXAMPLE")
	clientSecret  = os.Getenv("CLIENT_SECRET") // empty for a public client
	listen        = cmp.Or(os.Getenv("LISTEN"), "localhost:3000")
	baseURL       = strings.TrimRight(cmp.Or(os.Getenv("BASE_URL"), "http://"+listen), "/")
	callbackPath  = "/callback"
	redirectURI   = baseURL + callbackPath
	postLogoutURI = baseURL + "/"
	scope         = "openid profile email"
	apiURL        = cmp.Or(os.Getenv("API_URL"), "http://localhost:4000") // the API that the access tokens are for
)
