/** Filters of outputs: containers and clusters. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const containers: ReadonlyArray<Filter> = [
  {
    id: "docker-build",
    label: "docker build, docker buildx",
    description: "Steps that failed and the image, without cache and transfer.",
    category: "containers",
    priority: 50,
    match: {
      commands: ["^(?:docker|podman|nerdctl) (?:build|buildx|image build)\\b", "^buildah\\b"],
      patterns: ["^#\\d+ \\[internal\\] load"]
    },
    rules: {
      dropPatterns: [
        "^#\\d+ (?:sha256:|transferring|extracting|resolve |CACHED|DONE \\d)",
        "^#\\d+ \\[internal\\]",
        "^#\\d+ *$",
        "^ ---> (?:Using cache|[0-9a-f]{12})$",
        "^Removing intermediate container",
        "^Sending build context",
        "^ => => "
      ],
      truncateLineAt: 400
    },
    preserve: {
      errorPatterns: ["^ > \\[", "^ERROR", "^-{6,}$", "^>>>"],
      summaryPatterns: ["writing image", "naming to", "^Success"]
    },
    tests: [
      {
        name: "keeps steps and what failed",
        command: "docker build .",
        input: text([
          "#1 [internal] load build definition from Dockerfile",
          "#1 transferring dockerfile: 120B done",
          "#1 DONE 0.0s",
          "",
          "#5 [2/3] RUN npm ci",
          "#5 1.200 npm error code ENOENT",
          '#5 ERROR: process "/bin/sh -c npm ci" did not complete successfully: exit code: 254',
          "------",
          " > [2/3] RUN npm ci:",
          "------"
        ]),
        expected: text([
          "#5 [2/3] RUN npm ci",
          "#5 1.200 npm error code ENOENT",
          '#5 ERROR: process "/bin/sh -c npm ci" did not complete successfully: exit code: 254',
          "------",
          " > [2/3] RUN npm ci:",
          "------"
        ])
      },
      {
        name: "keeps the image",
        command: "docker build -t a .",
        input: text([
          "#7 exporting to image",
          "#7 sha256:0123456789abcdef",
          "#7 writing image sha256:abc done",
          "#7 naming to docker.io/library/a done",
          "#7 DONE 0.1s"
        ]),
        expected: text([
          "#7 exporting to image",
          "#7 writing image sha256:abc done",
          "#7 naming to docker.io/library/a done"
        ])
      }
    ]
  },
  {
    id: "docker-pull",
    label: "docker pull, docker push",
    description: "The image and its digest, without the layers.",
    category: "containers",
    priority: 50,
    match: {
      commands: ["^(?:docker|podman|nerdctl) (?:pull|push|load|save)\\b"]
    },
    rules: {
      dropPatterns: [
        "^[0-9a-f]{12}: (?:Pulling fs layer|Waiting|Verifying Checksum|Download complete|Extracting|Downloading|Preparing|Pushing|Layer already exists)"
      ],
      collapsePatterns: ["^[0-9a-f]{12}: (?:Pull complete|Pushed|Already exists|Mounted)"]
    },
    preserve: {
      summaryPatterns: ["^(?:Digest|Status): "]
    },
    tests: [
      {
        name: "keeps digest and status",
        command: "docker pull redis",
        input: text([
          "Using default tag: latest",
          "latest: Pulling from library/redis",
          "c29f5b76f736: Pulling fs layer",
          "c29f5b76f736: Download complete",
          "c29f5b76f736: Pull complete",
          "aa29f5b76f73: Pull complete",
          "bb29f5b76f73: Pull complete",
          "cc29f5b76f73: Pull complete",
          "Digest: sha256:0123",
          "Status: Downloaded newer image for redis:latest"
        ]),
        expected: text([
          "Using default tag: latest",
          "latest: Pulling from library/redis",
          "c29f5b76f736: Pull complete",
          "… 2 lines like these",
          "cc29f5b76f73: Pull complete",
          "Digest: sha256:0123",
          "Status: Downloaded newer image for redis:latest"
        ])
      },
      {
        name: "keeps a refusal",
        command: "docker pull x",
        input: text(["Error response from daemon: pull access denied for x, repository does not exist"]),
        expected: text(["Error response from daemon: pull access denied for x, repository does not exist"])
      }
    ]
  },
  {
    id: "docker-ps",
    label: "docker ps",
    description: "Containers with image, status and ports.",
    category: "containers",
    priority: 50,
    match: {
      commands: ["^(?:docker|podman|nerdctl) (?:ps|container ls|container list|stats|top)\\b"],
      patterns: ["^CONTAINER ID +IMAGE"]
    },
    rules: {
      replace: [
        {
          pattern: "(\\S) {4,}",
          replacement: "$1   "
        }
      ],
      truncateLineAt: 300
    },
    tests: [
      {
        name: "narrows columns",
        command: "docker ps",
        input: text([
          "CONTAINER ID   IMAGE          COMMAND                  CREATED        STATUS        PORTS                    NAMES",
          '0123456789ab   redis:8        "docker-entrypoint.s…"   2 hours ago    Up 2 hours    0.0.0.0:6379->6379/tcp   cache'
        ]),
        expected: text([
          "CONTAINER ID   IMAGE   COMMAND   CREATED   STATUS   PORTS   NAMES",
          '0123456789ab   redis:8   "docker-entrypoint.s…"   2 hours ago   Up 2 hours   0.0.0.0:6379->6379/tcp   cache'
        ])
      },
      {
        name: "keeps a stopped one",
        command: "docker ps -a",
        input: text([
          "CONTAINER ID   IMAGE     COMMAND   CREATED        STATUS                      PORTS     NAMES",
          '0123456789ab   a         "a"       2 hours ago    Exited (137) 1 hour ago               a'
        ]),
        expected: text([
          "CONTAINER ID   IMAGE   COMMAND   CREATED   STATUS   PORTS   NAMES",
          '0123456789ab   a   "a"   2 hours ago   Exited (137) 1 hour ago   a'
        ])
      }
    ]
  },
  {
    id: "docker-images",
    label: "docker images",
    description: "Images with tag and size.",
    category: "containers",
    priority: 50,
    match: {
      commands: ["^(?:docker|podman|nerdctl) (?:images|image ls|volume ls|network ls|system df)\\b"],
      patterns: ["^REPOSITORY +TAG +IMAGE ID"]
    },
    rules: {
      replace: [
        {
          pattern: "(\\S) {4,}",
          replacement: "$1   "
        }
      ],
      collapsePatterns: ["^<none> +<none>"]
    },
    tests: [
      {
        name: "shortens images without a name",
        command: "docker images",
        input: text([
          "REPOSITORY   TAG       IMAGE ID       CREATED       SIZE",
          "redis        8         0123456789ab   2 weeks ago   128MB",
          "<none>       <none>    1123456789ab   2 weeks ago   812MB",
          "<none>       <none>    2123456789ab   2 weeks ago   813MB",
          "<none>       <none>    3123456789ab   2 weeks ago   814MB",
          "<none>       <none>    4123456789ab   2 weeks ago   815MB"
        ]),
        expected: text([
          "REPOSITORY   TAG   IMAGE ID   CREATED   SIZE",
          "redis   8   0123456789ab   2 weeks ago   128MB",
          "<none>   <none>   1123456789ab   2 weeks ago   812MB",
          "… 2 lines like these",
          "<none>   <none>   4123456789ab   2 weeks ago   815MB"
        ])
      },
      {
        name: "leaves few as they are",
        command: "docker images",
        input: text(["REPOSITORY   TAG   IMAGE ID   CREATED   SIZE", "redis   8   0123456789ab   2 weeks ago   128MB"]),
        expected: text([
          "REPOSITORY   TAG   IMAGE ID   CREATED   SIZE",
          "redis   8   0123456789ab   2 weeks ago   128MB"
        ])
      }
    ]
  },
  {
    id: "docker-logs",
    label: "docker logs",
    description: "The last lines and every failure; checks of health are dropped.",
    category: "containers",
    priority: 50,
    match: {
      commands: ["^(?:docker|podman|nerdctl) (?:logs|container logs|attach)\\b"]
    },
    rules: {
      dropPatterns: [
        '"(?:GET|HEAD) /(?:health|healthz|livez|readyz|ready|ping|metrics|favicon\\.ico)[^"]{0,100}" (?:200|204)'
      ],
      headLines: 20,
      tailLines: 100,
      truncateLineAt: 500
    },
    tests: [
      {
        name: "drops checks of health",
        command: "docker logs web",
        input: text([
          '10.0.0.1 - - [23/Nov/2026:10:00:00 +0000] "GET /healthz HTTP/1.1" 200 2',
          '10.0.0.2 - - [23/Nov/2026:10:00:01 +0000] "POST /v1/orders HTTP/1.1" 500 120',
          '10.0.0.1 - - [23/Nov/2026:10:00:02 +0000] "GET /healthz HTTP/1.1" 503 2'
        ]),
        expected: text([
          '10.0.0.2 - - [23/Nov/2026:10:00:01 +0000] "POST /v1/orders HTTP/1.1" 500 120',
          '10.0.0.1 - - [23/Nov/2026:10:00:02 +0000] "GET /healthz HTTP/1.1" 503 2'
        ])
      },
      {
        name: "counts lines that repeat",
        command: "docker logs a",
        input: text([
          "waiting for database",
          "waiting for database",
          "waiting for database",
          "waiting for database",
          "ready on port 3000"
        ]),
        expected: text(["waiting for database (×4)", "ready on port 3000"])
      }
    ]
  },
  {
    id: "docker-compose",
    label: "docker compose",
    description: "Services and what failed, without the progress.",
    category: "containers",
    priority: 50,
    match: {
      commands: ["^docker(?: |-)compose\\b", "^podman-compose\\b"]
    },
    rules: {
      dropPatterns: [
        "^ (?:[0-9a-f]{12}|\\S+) (?:Pulling|Waiting|Verifying Checksum|Download complete|Extracting|Downloading|Pulling fs layer)",
        "^ (?:Container|Network|Volume) \\S+ +(?:Creating|Starting|Stopping|Removing|Waiting|Recreate)$",
        '"(?:GET|HEAD) /(?:health|healthz|livez|readyz|ready|ping|metrics|favicon\\.ico)[^"]{0,100}" (?:200|204)'
      ],
      headLines: 20,
      tailLines: 100,
      truncateLineAt: 500
    },
    tests: [
      {
        name: "keeps what was done",
        command: "docker compose up -d",
        input: text([
          " Network a_default  Creating",
          " Network a_default  Created",
          " Container a-db-1  Creating",
          " Container a-db-1  Created",
          " Container a-db-1  Starting",
          " Container a-db-1  Started"
        ]),
        expected: text([" Network a_default  Created", " Container a-db-1  Created", " Container a-db-1  Started"])
      },
      {
        name: "keeps errors of services",
        command: "docker-compose logs",
        input: text(["web-1  | GET /healthz", 'db-1   | FATAL:  password authentication failed for user "a"']),
        expected: text(["web-1  | GET /healthz", 'db-1   | FATAL:  password authentication failed for user "a"'])
      }
    ]
  },
  {
    id: "kubectl-get",
    label: "kubectl get, kubectl top",
    description: "The table, narrowed; what does not run stays.",
    category: "containers",
    priority: 50,
    match: {
      commands: ["^(?:kubectl|k|oc|k9s) (?:-.* )?(?:get|top|api-resources)\\b"],
      patterns: ["^(?:NAMESPACE +)?NAME +READY +STATUS"]
    },
    rules: {
      replace: [
        {
          pattern: "(\\S) {4,}",
          replacement: "$1   "
        }
      ],
      truncateLineAt: 300
    },
    preserve: {
      errorPatterns: ["CrashLoopBackOff|ImagePull|Pending|Evicted|Error|OOMKilled|Unknown|Terminating", " 0/[1-9]"]
    },
    tests: [
      {
        name: "narrows columns",
        command: "kubectl get pods",
        input: text([
          "NAME                     READY   STATUS             RESTARTS      AGE",
          "api-7d9c5b8f4-abcde      1/1     Running            0             2d",
          "worker-5f6d7c8b9-fghij   0/1     CrashLoopBackOff   12 (2m ago)   40m"
        ]),
        expected: text([
          "NAME   READY   STATUS   RESTARTS   AGE",
          "api-7d9c5b8f4-abcde   1/1   Running   0   2d",
          "worker-5f6d7c8b9-fghij   0/1   CrashLoopBackOff   12 (2m ago)   40m"
        ])
      },
      {
        name: "keeps a refusal",
        command: "kubectl get pods",
        input: text(['Error from server (Forbidden): pods is forbidden: User "a" cannot list resource "pods"']),
        expected: text(['Error from server (Forbidden): pods is forbidden: User "a" cannot list resource "pods"'])
      }
    ]
  },
  {
    id: "kubectl-describe",
    label: "kubectl describe",
    description: "State, conditions and events, without what is the same in all of them.",
    category: "containers",
    priority: 50,
    match: {
      commands: ["^(?:kubectl|k|oc) (?:-.* )?describe\\b"]
    },
    rules: {
      dropPatterns: [
        "^Tolerations: +node\\.kubernetes\\.io",
        "^ +node\\.kubernetes\\.io/\\S+:NoExecute",
        "^QoS Class:",
        "^Node-Selectors: +<none>",
        "^ +kube-api-access-",
        "^ +(?:ConfigMapName|ConfigMapOptional|DownwardAPI|TokenExpirationSeconds): "
      ],
      maxLines: 160
    },
    preserve: {
      summaryPatterns: [
        "^ *(?:State|Reason|Last State|Restart Count|Ready|Exit Code|Message|Image):",
        "^ {2}(?:Normal|Warning) "
      ]
    },
    tests: [
      {
        name: "keeps state and events",
        command: "kubectl describe pod a",
        input: text([
          "Name:             a",
          "QoS Class:                   BestEffort",
          "Node-Selectors:              <none>",
          "Tolerations:                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s",
          "    State:          Waiting",
          "      Reason:       CrashLoopBackOff",
          "    Last State:     Terminated",
          "      Exit Code:    137",
          "Events:",
          "  Warning  BackOff  2m (x40 over 9m)  kubelet  Back-off restarting failed container"
        ]),
        expected: text([
          "Name:             a",
          "    State:          Waiting",
          "      Reason:       CrashLoopBackOff",
          "    Last State:     Terminated",
          "      Exit Code:    137",
          "Events:",
          "  Warning  BackOff  2m (x40 over 9m)  kubelet  Back-off restarting failed container"
        ])
      },
      {
        name: "keeps what is missing",
        command: "kubectl describe pod b",
        input: text(['Error from server (NotFound): pods "b" not found']),
        expected: text(['Error from server (NotFound): pods "b" not found'])
      }
    ]
  },
  {
    id: "kubectl-logs",
    label: "kubectl logs, kubectl apply, helm",
    description: "The last lines and every failure.",
    category: "containers",
    priority: 50,
    match: {
      commands: [
        "^(?:kubectl|k|oc) (?:-.* )?(?:logs|apply|delete|rollout|create|exec|wait)\\b",
        "^(?:helm|stern|kustomize|minikube|kind)\\b"
      ]
    },
    rules: {
      dropPatterns: [
        '"(?:GET|HEAD) /(?:health|healthz|livez|readyz|ready|ping|metrics|favicon\\.ico)[^"]{0,100}" (?:200|204)'
      ],
      collapsePatterns: [" (?:unchanged|configured|created)$"],
      headLines: 20,
      tailLines: 100,
      truncateLineAt: 500
    },
    tests: [
      {
        name: "shortens what did not change",
        command: "kubectl apply -f .",
        input: text([
          "configmap/a unchanged",
          "configmap/b unchanged",
          "configmap/c unchanged",
          "deployment.apps/d configured",
          "service/e unchanged"
        ]),
        expected: text(["configmap/a unchanged", "… 3 lines like these", "service/e unchanged"])
      },
      {
        name: "drops checks of health",
        command: "kubectl logs a",
        input: text([
          '10.1.0.1 - - [x] "GET /readyz HTTP/1.1" 200 2',
          "panic: runtime error: index out of range [3] with length 3"
        ]),
        expected: text(["panic: runtime error: index out of range [3] with length 3"])
      }
    ]
  }
]
