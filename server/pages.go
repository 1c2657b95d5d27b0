package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"
)

// mountPages mounts the pages after the API, longer keys first.
func (s *server) mountPages(router *mux.Router) {
	keys := make([]string, 0, len(s.Pages))
	for key := range s.Pages {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return len(b) - len(a) })
	for _, key := range keys {
		page := s.page(key)
		if strings.HasSuffix(key, "/") && key != "/" {
			router.PathPrefix(key).Handler(page)
		} else {
			router.Path(key).Handler(page)
		}
	}
}

// page serves a page. If it fails in plain text, as http.Error and http.ServeMux do, the client
// gets the API's error instead.
func (s *server) page(key string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exchangeOf(r).route = key
		reply := &pageReply{ResponseWriter: w}
		s.Pages[key].ServeHTTP(reply, r)
		switch reply.refused {
		case 0:
		case http.StatusNotFound:
			s.notFound(w, r)
		case http.StatusMethodNotAllowed:
			s.fail(w, r, &wrongMethod{method: r.Method, path: key, allow: w.Header().Get("Allow")})
		default:
			s.fail(w, r, fmt.Errorf("the page %s answered with %d", key, reply.refused))
		}
	})
}

// pageReply holds back plain text errors of a page.
type pageReply struct {
	http.ResponseWriter
	refused int // the status, 0 for none
}

// WriteHeader holds the reply back if it is an error in plain text.
func (p *pageReply) WriteHeader(status int) {
	plain := strings.HasPrefix(p.Header().Get("Content-Type"), "text/plain")
	if plain && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusInternalServerError}, status) {
		p.refused = status
		return
	}
	p.ResponseWriter.WriteHeader(status)
}

// Write writes any other reply.
func (p *pageReply) Write(b []byte) (int, error) {
	if p.refused != 0 {
		return len(b), nil
	}
	return p.ResponseWriter.Write(b)
}

// Unwrap returns the inner writer for http.ResponseController.
func (p *pageReply) Unwrap() http.ResponseWriter { return p.ResponseWriter }
