package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/internal/porttest"
	"github.com/postern-id/postern/server"
)

// frontProxy is a reverse proxy with a file of deploy/proxy.
type frontProxy struct {
	program, file string
	// configure returns the arguments of the program, with the configuration that includes the text of the file.
	configure func(t *testing.T, at proxyPlace, text string) []string
}

// proxyPlace is where a proxy of a test runs.
type proxyPlace struct {
	dir, port         string
	certificate, key  string // files in PEM form
	insideOfSite      bool
	serverReplacement *strings.Replacer
}

func frontProxies() map[string]frontProxy {
	return map[string]frontProxy{
		"nginx":             {"nginx", "nginx.conf", configureNginx},
		"nginx with a path": {"nginx", "nginx-path.conf", configureNginx},
		"caddy":             {"caddy", "Caddyfile", configureCaddy},
		"caddy with a path": {"caddy", "Caddyfile-path", configureCaddy},
		"apache":            {"apache2", "apache.conf", configureApache},
	}
}

func configureNginx(t *testing.T, at proxyPlace, text string) []string {
	if at.insideOfSite {
		text = fmt.Sprintf("server {\nlisten 443 ssl;\nserver_name example.com;\nssl_certificate /etc/ssl/login.example.com.pem;\nssl_certificate_key /etc/ssl/login.example.com.key;\n%s}\n", text)
	}
	own := "pid " + at.dir + "/nginx.pid;\nerror_log stderr;\ndaemon off;\nmaster_process off;\nevents {}\nhttp {\naccess_log off;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		own += kind + "_temp_path " + at.dir + "/" + kind + ";\n"
	}
	path := filepath.Join(at.dir, "nginx.conf")
	datatest.WriteFile(t, path, own+at.serverReplacement.Replace(text)+"}\n")
	return []string{"-p", at.dir, "-c", path}
}

func configureCaddy(t *testing.T, at proxyPlace, text string) []string {
	path := filepath.Join(at.dir, "Caddyfile")
	options := "{\n\tadmin off\n\tauto_https disable_redirects\n\tlocal_certs\n\tskip_install_trust\n\tdefault_bind 127.0.0.1\n\thttps_port " + at.port + "\n\tstorage file_system " + at.dir + "\n}\n"
	datatest.WriteFile(t, path, options+at.serverReplacement.Replace(text))
	return []string{"run", "--adapter", "caddyfile", "--config", path}
}

func configureApache(t *testing.T, at proxyPlace, text string) []string {
	own := "ServerRoot " + at.dir + "\nServerName localhost\nPidFile apache.pid\nErrorLog /dev/stderr\nListen 127.0.0.1:" + at.port + "\n"
	for _, module := range []string{"mpm_event", "authz_core", "socache_shmcb", "ssl", "proxy", "proxy_http"} {
		own += "LoadModule " + module + "_module /usr/lib/apache2/modules/mod_" + module + ".so\n"
	}
	if os.Geteuid() == 0 {
		own += "User www-data\nGroup www-data\n"
	}
	path := filepath.Join(at.dir, "apache.conf")
	datatest.WriteFile(t, path, own+"Mutex posixsem\n"+at.serverReplacement.Replace(text))
	return []string{"-X", "-f", path}
}

// start starts the proxy in front of a server, and returns its port.
func (f frontProxy) start(t *testing.T, upstream string) (port string) {
	t.Helper()
	program, err := exec.LookPath(f.program)
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/" + f.program)
	}
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skipf("%s is not installed: %v", f.program, err)
	}
	number, err := porttest.Free()
	if err != nil {
		t.Fatal(err)
	}
	at := proxyPlace{dir: t.TempDir(), port: fmt.Sprint(number), insideOfSite: strings.Contains(f.file, "-path")}
	if _, err := server.Certificate(server.CertificateOptions{DataDir: at.dir, Hostname: "login.example.com", Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	at.certificate, at.key = filepath.Join(at.dir, "tls", "cert.pem"), filepath.Join(at.dir, "tls", "key.pem")
	at.serverReplacement = strings.NewReplacer("/etc/ssl/login.example.com.pem", at.certificate, "/etc/ssl/login.example.com.key", at.key,
		"127.0.0.1:8090", upstream, "listen [::]:443 ssl;", "", "listen 443", "listen 127.0.0.1:"+at.port, "*:443", "127.0.0.1:"+at.port)
	var log logtest.Buffer
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, f.configure(t, at, readText(t, "proxy", f.file))...)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+at.dir, "XDG_DATA_HOME="+at.dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		stop()
		<-ended
		if t.Failed() {
			t.Logf("%s: %s", f.program, log.String())
		}
	})
	for {
		conn, err := net.Dial("tcp", "127.0.0.1:"+at.port)
		if err == nil {
			_ = conn.Close()
			return at.port
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s has ended: %v\n%s", f.program, err, log.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// browserAt is a browser at an address of this machine, for which all hosts are the proxy at the port.
func browserAt(t *testing.T, address, port string) *http.Client {
	t.Helper()
	browser := newBrowser(t, nil)
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, "127.0.0.1:"+port)
		}}
	t.Cleanup(transport.CloseIdleConnections)
	browser.Transport = transport
	return browser
}

// Postern works behind the proxies with the files of deploy/proxy: the whole sign-in, the pages, tools, large
// requests, long addresses, and limits by the addresses of clients, which clients cannot choose.
func TestBehindProxies(t *testing.T) {
	sequential(t)
	for name, front := range frontProxies() {
		t.Run(name, func(t *testing.T) {
			public, isSite := "https://login.example.com", strings.Contains(front.file, "-path")
			if isSite {
				public = "https://example.com/auth"
			}
			w := createUsers(t, "POSTERN_SERVER_PUBLIC_URL="+public, "POSTERN_SERVER_HTTP_ONLY=true", "POSTERN_SERVER_TRUSTED_PROXIES=127.0.0.1",
				"POSTERN_THROTTLE_ENABLED=true", "POSTERN_THROTTLE_TOKEN_FAILURES_BURST=3", "POSTERN_THROTTLE_TOKEN_FAILURES_EVERY=1h")
			upstream := httptest.NewServer(w.http)
			defer upstream.Close()
			port := front.start(t, upstream.Listener.Addr().String())
			p := w.newParties("query")(t)
			p.http = browserAt(t, "127.0.2.2", port)
			got, _, _ := p.signInAndVerify("scope", "openid email")
			if said := p.userinfo(got.Access); said["email"] != "pat@example.com" {
				t.Errorf("userinfo says %v", said)
			}
			if isSite {
				p.visitPages()
				p.readMetadata()
			} else if _, text := p.visit(p.at("/console/users")); !strings.Contains(text, `<base href="/console/">`) {
				t.Errorf("the console: %.200s", text)
			}
			p.sendLongState()
			p.sendLargeBody(w.assistant())
			p.failUntilThrottled()
			other := *p
			other.http = browserAt(t, "127.0.3.3", port)
			if _, status := other.redeem("wrong"); status != http.StatusBadRequest {
				t.Errorf("the limit of another client holds: %d", status)
			}
		})
	}
}

// sendLongState checks that a state of kilobytes comes back from an authorization request.
func (p *party) sendLongState() {
	p.t.Helper()
	state := strings.Repeat("0123456789", 400)
	if a := p.ask("state", state); a.params.Get("state") != state || a.params.Get("code") == "" {
		p.t.Errorf("a long state: answered %.200v", a)
	}
}

// sendLargeBody sends requests above a megabyte, to a tool and as a flow to check.
func (p *party) sendLargeBody(token string) {
	p.t.Helper()
	for path, body := range map[string]string{
		"/mcp":         `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "service_list_flows", "arguments": {}}}` + strings.Repeat(" ", 1<<20),
		"/flows/check": `{"handle": "` + strings.Repeat("x", 1<<20) + `"}`,
	} {
		r, err := http.NewRequest(http.MethodPost, p.at(path), bytes.NewBufferString(body))
		if err == nil {
			r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + token}}
		}
		reply, text := p.do(r, err)
		if reply.Header.Get("X-Trace-Id") == "" || path == "/mcp" && reply.StatusCode != http.StatusOK {
			p.t.Errorf("%s: %d, not by Postern: %.200s", path, reply.StatusCode, text)
		}
	}
}

// failUntilThrottled uses up the failures that a client may have, although it claims other addresses.
func (p *party) failUntilThrottled() {
	p.t.Helper()
	for i := range 4 {
		form := url.Values{"grant_type": {"authorization_code"}, "code": {"wrong"}, "client_id": {p.id}, "client_secret": {"wrong"}}
		reply, text := p.submit(p.at("/oauth2/token"), form, fmt.Sprintf("X-Forwarded-For: 198.51.%d.7", i), fmt.Sprintf("Forwarded: for=198.51.%d.7", i))
		if want := i == 3; (reply.StatusCode == http.StatusTooManyRequests) != want {
			p.t.Errorf("failure %d: %d %.200s", i, reply.StatusCode, text)
		}
	}
}

// docs/proxy.md shows the files that are tested.
func TestProxyDocs(t *testing.T) {
	page := string(datatest.ReadFile(t, "../../docs/proxy.md"))
	files, err := os.ReadDir(deployFile("proxy"))
	if err != nil || len(files) != 6 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if text := readText(t, "proxy", file.Name()); !strings.Contains(page, "\n"+text+"```") {
			t.Errorf("docs/proxy.md lacks %s", file.Name())
		}
	}
}
