package main

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/datatest"
)

// deployFile returns the path of a file in deploy/.
func deployFile(path ...string) string {
	return filepath.Join(append([]string{"..", "..", "deploy"}, path...)...)
}

// readText returns the text of a file in deploy/.
func readText(t *testing.T, path ...string) string {
	t.Helper()
	return string(datatest.ReadFile(t, deployFile(path...)))
}

// decodeDocuments decodes each document of a YAML file into a T. An unknown member is an error.
func decodeDocuments[T any](t *testing.T, path ...string) (documents []T) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(readText(t, path...)))
	decoder.KnownFields(true)
	for {
		var d T
		switch err := decoder.Decode(&d); {
		case errors.Is(err, io.EOF):
			return documents
		case err != nil:
			t.Fatalf("%s: %v", filepath.Join(path...), err)
		}
		documents = append(documents, d)
	}
}

// loadWith loads a configuration file of deploy/ with an environment.
func loadWith(t *testing.T, environ []string, path ...string) *config.Config {
	t.Helper()
	cfg, err := config.Load(deployFile(path...), environ)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// The image runs as an unprivileged user, serves all interfaces and stores its data in the volume.
func TestDeployImage(t *testing.T) {
	_, stage, found := strings.Cut(readText(t, "Dockerfile"), "FROM scratch\n")
	if !found {
		t.Fatal("the last stage of the Dockerfile is not FROM scratch, which deploy/image.sh expects")
	}
	for _, line := range []string{
		"USER 65532:65532", "WORKDIR /data", "VOLUME /data", "EXPOSE 8090 9464", `ENTRYPOINT ["/postern"]`,
		`CMD ["serve", "--config", "/etc/postern/postern.yaml"]`,
	} {
		if !strings.Contains(stage, "\n"+line+"\n") {
			t.Errorf("the last stage has no line %s", line)
		}
	}
	if !regexp.MustCompile(`\nHEALTHCHECK .* CMD \["/postern", "health", "--config", "/etc/postern/postern.yaml"\]`).MatchString(stage) {
		t.Error("the last stage has no health check")
	}
	cfg := loadWith(t, nil, "image", "etc", "postern", "postern.yaml")
	if cfg.Server.Listen != ":8090" || cfg.DataDir != "/data" || cfg.Keys.File != "/data/keys/key-encryption.key" || cfg.Database.DSN != "/data/database/postern.db" {
		t.Errorf("the image listens on %s with data in %s, the key in %s and the database in %s", cfg.Server.Listen, cfg.DataDir, cfg.Keys.File, cfg.Database.DSN)
	}
}

// composeFile is the part of a compose file that the test checks.
type composeFile struct {
	Services map[string]struct {
		Image       string
		Environment map[string]string
		Ports       []string
		Volumes     []string
		DependsOn   map[string]map[string]string `yaml:"depends_on"`
		ReadOnly    bool                         `yaml:"read_only"`
		CapDrop     []string                     `yaml:"cap_drop"`
		SecurityOpt []string                     `yaml:"security_opt"`
		Healthcheck map[string]any
		Build       map[string]string
		MemLimit    string `yaml:"mem_limit"`
		Grace       string `yaml:"stop_grace_period"`
		Restart     string
	}
	Volumes map[string]any
}

func TestDeployCompose(t *testing.T) {
	files := decodeDocuments[composeFile](t, "compose.yaml")
	if len(files) != 1 {
		t.Fatalf("compose.yaml has %d documents", len(files))
	}
	postern, postgres := files[0].Services["postern"], files[0].Services["postgres"]
	const password = "0123456789abcdef"
	variables := regexp.MustCompile(`\$\{(\w+)(:-([^}]*))?\}`)
	var environ []string
	for name, value := range postern.Environment {
		value = variables.ReplaceAllStringFunc(value, func(v string) string {
			parts := variables.FindStringSubmatch(v)
			if parts[1] == "POSTGRES_PASSWORD" {
				return password
			}
			return parts[3]
		})
		environ = append(environ, name+"="+value)
	}
	cfg := loadWith(t, environ, "image", "etc", "postern", "postern.yaml")
	want := "host=postgres user=" + postgres.Environment["POSTGRES_USER"] + " dbname=" + postgres.Environment["POSTGRES_DB"] + " password=" + password + " sslmode=disable"
	if cfg.Database.Driver != "postgres" || cfg.Database.DSN != want {
		t.Errorf("the database is %s, %s; expected %s", cfg.Database.Driver, cfg.Database.DSN, want)
	}
	if !slices.Equal(postern.Ports, []string{"127.0.0.1:8090:8090"}) || !slices.Equal(postern.Volumes, []string{"postern:" + cfg.DataDir}) {
		t.Errorf("ports %q, volumes %q", postern.Ports, postern.Volumes)
	}
	if !postern.ReadOnly || !slices.Equal(postern.CapDrop, []string{"ALL"}) || !slices.Contains(postern.SecurityOpt, "no-new-privileges:true") {
		t.Error("postern is not confined")
	}
	if postern.DependsOn["postgres"]["condition"] != "service_healthy" || postgres.Healthcheck["test"] == nil {
		t.Error("postern does not wait for PostgreSQL")
	}
	if grace, err := time.ParseDuration(postern.Grace); err != nil || grace <= cfg.Server.Drain+20*time.Second {
		t.Errorf("stop_grace_period is %s, expected more than 20 seconds for requests in flight", postern.Grace)
	}
}

// manifest is the part of the Kubernetes objects that the test checks.
type manifest struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		Replicas     int
		MinAvailable int `yaml:"minAvailable"`
		Ports        []port
		PolicyTypes  []string `yaml:"policyTypes"`
		Ingress      []struct {
			From  []map[string]any
			Ports []struct{ Port string }
		}
		Template struct{ Spec podSpec }
	}
	StringData map[string]string `yaml:"stringData"`
}

type port struct {
	Name          string
	ContainerPort int    `yaml:"containerPort"`
	TargetPort    string `yaml:"targetPort"`
}

type podSpec struct {
	EnableServiceLinks *bool `yaml:"enableServiceLinks"`
	Automount          *bool `yaml:"automountServiceAccountToken"`
	Grace              int   `yaml:"terminationGracePeriodSeconds"`
	SecurityContext    struct {
		RunAsNonRoot   bool              `yaml:"runAsNonRoot"`
		RunAsUser      int               `yaml:"runAsUser"`
		SeccompProfile map[string]string `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	Containers []container
}

type container struct {
	Image          string
	Args           []string
	Ports          []port
	EnvFrom        []map[string]map[string]string `yaml:"envFrom"`
	StartupProbe   probeSpec                      `yaml:"startupProbe"`
	LivenessProbe  probeSpec                      `yaml:"livenessProbe"`
	ReadinessProbe probeSpec                      `yaml:"readinessProbe"`
	Resources      struct {
		Requests, Limits map[string]string
	}
	SecurityContext struct {
		Escalation   *bool               `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRoot bool                `yaml:"readOnlyRootFilesystem"`
		Capabilities map[string][]string `yaml:"capabilities"`
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
}

type probeSpec struct {
	HTTPGet struct {
		Path, Port string
	} `yaml:"httpGet"`
	PeriodSeconds    int `yaml:"periodSeconds"`
	FailureThreshold int `yaml:"failureThreshold"`
}

// readManifests returns the Kubernetes objects of the base by their kind and name.
func readManifests(t *testing.T) map[string]manifest {
	t.Helper()
	base := decodeDocuments[struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Labels     []map[string]any
		Resources  []string
		ConfigMaps []struct {
			Name  string
			Files []string
		} `yaml:"configMapGenerator"`
	}](t, "kubernetes", "kustomization.yaml")[0]
	if len(base.ConfigMaps) != 1 || !slices.Equal(base.ConfigMaps[0].Files, []string{"postern.yaml"}) || base.ConfigMaps[0].Name != "postern" {
		t.Errorf("the base generates %v", base.ConfigMaps)
	}
	objects := make(map[string]manifest)
	for _, name := range append(base.Resources, "secret.example.yaml") {
		decoder := yaml.NewDecoder(strings.NewReader(readText(t, "kubernetes", name)))
		for {
			var m manifest
			err := decoder.Decode(&m)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || m.APIVersion == "" || m.Kind == "" || m.Metadata.Name == "" {
				t.Fatalf("%s: %v, %+v", name, err, m)
			}
			objects[m.Kind+"/"+m.Metadata.Name] = m
		}
	}
	return objects
}

// kubernetesConfig loads the configuration of the base with the example secret.
func kubernetesConfig(t *testing.T, secret map[string]string) *config.Config {
	t.Helper()
	var environ []string
	for name, value := range secret {
		if name == "POSTERN_KEY_ENCRYPTION_KEY" {
			value = base64.StdEncoding.EncodeToString(make([]byte, 32))
		}
		environ = append(environ, name+"="+value)
	}
	return loadWith(t, environ, "kubernetes", "postern.yaml")
}

// The configuration, the probes, the ports and the times of the Kubernetes base agree.
func TestDeployKubernetes(t *testing.T) {
	objects := readManifests(t)
	cfg := kubernetesConfig(t, objects["Secret/postern"].StringData)
	deployment := objects["Deployment/postern"]
	pod := deployment.Spec.Template.Spec
	c := pod.Containers[0]
	if cfg.Throttle.Instances != deployment.Spec.Replicas || deployment.Spec.Replicas < 2 {
		t.Errorf("throttle.instances is %d, and there are %d replicas", cfg.Throttle.Instances, deployment.Spec.Replicas)
	}
	if cfg.Database.Driver != "postgres" || cfg.Keys.File != "" || !cfg.Server.HTTPOnly {
		t.Errorf("database %s, key file %q, http_only %v", cfg.Database.Driver, cfg.Keys.File, cfg.Server.HTTPOnly)
	}
	if want := []port{{Name: "http", ContainerPort: 8090}, {Name: "metrics", ContainerPort: 9464}}; !slices.Equal(c.Ports, want) ||
		cfg.Server.Listen != ":8090" || cfg.Telemetry.Metrics.Listen != ":9464" {
		t.Errorf("ports %v, but the server listens on %s, and for metrics on %s", c.Ports, cfg.Server.Listen, cfg.Telemetry.Metrics.Listen)
	}
	if pod.Grace <= int(cfg.Server.Drain.Seconds())+20 {
		t.Errorf("the grace period of %d s is too short for server.drain and 20 s for requests in flight", pod.Grace)
	}
	if failing := c.ReadinessProbe.PeriodSeconds * c.ReadinessProbe.FailureThreshold; failing >= int(cfg.Server.Drain.Seconds()) {
		t.Errorf("readiness fails after %d s, but server.drain is %s", failing, cfg.Server.Drain)
	}
	if mounted := c.VolumeMounts; len(mounted) != 2 || !slices.Equal(c.Args, []string{"serve", "--config", mounted[0].MountPath + "/postern.yaml"}) || mounted[1].MountPath != "/data" {
		t.Errorf("arguments %q, volumes %v", c.Args, mounted)
	}
	if c.EnvFrom[0]["secretRef"]["name"] != "postern" || c.Resources.Limits["memory"] == "" || c.Resources.Requests["cpu"] == "" {
		t.Errorf("environment %v, resources %v", c.EnvFrom, c.Resources)
	}
}

// The pods run unprivileged, and only the ingress and Prometheus reach them.
func TestDeployKubernetesIsConfined(t *testing.T) {
	objects := readManifests(t)
	pod := objects["Deployment/postern"].Spec.Template.Spec
	c := pod.Containers[0].SecurityContext
	if p := pod.SecurityContext; !p.RunAsNonRoot || p.RunAsUser != 65532 || p.SeccompProfile["type"] != "RuntimeDefault" {
		t.Errorf("the pod has %+v", p)
	}
	if c.Escalation == nil || *c.Escalation || !c.ReadOnlyRoot || !slices.Equal(c.Capabilities["drop"], []string{"ALL"}) {
		t.Errorf("the container has %+v", c)
	}
	if pod.Automount == nil || *pod.Automount {
		t.Error("the pod gets a token of the cluster")
	}
	// Kubernetes sets POSTERN_PORT and others for the service `postern`.
	if _, err := config.Load("", []string{"POSTERN_PORT=tcp://10.0.0.1:80"}); err == nil || pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
		t.Errorf("enableServiceLinks is %v, and the configuration with POSTERN_PORT: %v", pod.EnableServiceLinks, err)
	}
	policy := objects["NetworkPolicy/postern"].Spec
	var open []string
	for _, rule := range policy.Ingress {
		if len(rule.From) == 0 || len(rule.Ports) != 1 {
			t.Errorf("a rule accepts too much: %+v", rule)
			continue
		}
		open = append(open, rule.Ports[0].Port)
	}
	if !slices.Equal(policy.PolicyTypes, []string{"Ingress", "Egress"}) || !slices.Equal(open, []string{"http", "metrics"}) {
		t.Errorf("the policy for %q opens %q", policy.PolicyTypes, open)
	}
	if budget := objects["PodDisruptionBudget/postern"].Spec.MinAvailable; budget < 1 || budget >= objects["Deployment/postern"].Spec.Replicas {
		t.Errorf("the disruption budget keeps %d instances", budget)
	}
	for name, target := range map[string]string{"Service/postern": "http", "Service/postern-metrics": "metrics"} {
		if ports := objects[name].Spec.Ports; len(ports) != 1 || ports[0].TargetPort != target {
			t.Errorf("%s has %v", name, ports)
		}
	}
}

// The paths of the probes are those of the server.
func TestDeployProbes(t *testing.T) {
	c := readManifests(t)["Deployment/postern"].Spec.Template.Spec.Containers[0]
	w := newTestApp(t)
	for name, test := range map[string]struct {
		spec probeSpec
		want string
	}{
		"startup": {c.StartupProbe, "/health/liveness"}, "liveness": {c.LivenessProbe, "/health/liveness"}, "readiness": {c.ReadinessProbe, "/health/readiness"},
	} {
		if test.spec.HTTPGet.Path != test.want || test.spec.HTTPGet.Port != "http" {
			t.Errorf("%s asks %v, expected %s", name, test.spec.HTTPGet, test.want)
		}
		if status := w.call(http.MethodGet, test.spec.HTTPGet.Path, "", "").Code; status != http.StatusOK {
			t.Errorf("%s: status %d", test.spec.HTTPGet.Path, status)
		}
	}
}

// The systemd unit passes the variables that the configuration reads, and the timeouts that the server
// needs.
func TestDeployUnit(t *testing.T) {
	settings := make(map[string][]string)
	for line := range strings.Lines(readText(t, "postern.service")) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(line, "#") {
			settings[name] = append(settings[name], value)
		}
	}
	environ := []string{"CREDENTIALS_DIRECTORY=/run/credentials/postern.service"}
	for _, assignment := range settings["Environment"] {
		environ = append(environ, strings.NewReplacer("%S", "/var/lib", "%d", "/run/credentials/postern.service").Replace(assignment))
	}
	cfg := loadConfig(t, environ)
	if cfg.DataDir != "/var/lib/"+settings["StateDirectory"][0] || !strings.HasPrefix(settings["LoadCredential"][0], filepath.Base(cfg.Keys.File)+":") {
		t.Errorf("the data is in %s and the key in %s", cfg.DataDir, cfg.Keys.File)
	}
	for name, want := range map[string]string{"Type": "notify", "NotifyAccess": "main", "WatchdogSec": "60s", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "DynamicUser": "yes", "CapabilityBoundingSet": ""} {
		if got := settings[name]; !slices.Equal(got, []string{want}) {
			t.Errorf("%s=%q, expected %q", name, got, want)
		}
	}
}

// A release is accepted only with the signature of the maintainers and with unchanged files.
func TestReleaseSignature(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("ssh-keygen is missing: install openssh-client")
		}
		t.Skip("ssh-keygen is missing")
	}
	dir := t.TempDir()
	run := func(name string, args ...string) (string, error) {
		command := exec.Command(name, args...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		return string(out), err
	}
	must := func(name string, args ...string) {
		if out, err := run(name, args...); err != nil {
			t.Fatalf("%s %q: %v: %s", name, args, err, out)
		}
	}
	for _, key := range []string{"key", "other"} {
		must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", key)
	}
	public, err := os.ReadFile(filepath.Join(dir, "key.pub"))
	write := func(name, text string) {
		datatest.WriteFile(t, filepath.Join(dir, name), text)
	}
	if err != nil || os.Mkdir(filepath.Join(dir, "release"), 0o700) != nil {
		t.Fatal(err)
	}
	write("signers", `releases@postern namespaces="postern-release" `+string(public))
	write("release/postern.tar.gz", "an archive")
	must("sh", "-c", "cd release && sha256sum postern.tar.gz > SHA256SUMS")
	script, err := filepath.Abs(deployFile("release.sh"))
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(what, want string) {
		t.Helper()
		if out, err := run(script, "verify", "release", "signers"); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v, %s", what, err, out)
		}
	}
	refuse("without a signature", "is not signed by")
	must(script, "sign", "release", "key")
	must(script, "verify", "release", "signers")
	write("release/postern.tar.gz", "another archive")
	refuse("with another archive", "is not the one that was released")
	must("sh", "-c", "cd release && sha256sum postern.tar.gz > SHA256SUMS")
	refuse("with other checksums", "is not signed by")
	must(script, "sign", "release", "other")
	refuse("with another key", "is not signed by")
}
