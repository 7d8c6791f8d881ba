/** Filters of outputs: the network. */
import type { Filter } from "../Filter.ts"
import { text } from "./text.ts"

export const network: ReadonlyArray<Filter> = [
  {
    id: "curl",
    label: "curl, httpie",
    description: "The answer, without the meter and the handshake.",
    category: "network",
    priority: 50,
    match: {
      commands: ["^(?:curl|http|https|xh|grpcurl)\\b"]
    },
    rules: {
      dropPatterns: [
        "^ +% Total +% Received",
        "^ +Dload +Upload",
        "^ *\\d+ +[\\d.]+[kMG]? +\\d+ .*--:--:--",
        "^ *\\d+ +\\S+ +\\d+ +\\S+ +\\d+ +\\S+ +\\S+ +\\S+ +\\S+:\\S+",
        "^\\* (?:TLSv|ALPN|CAfile|CApath| +(?:subject|start date|expire date|issuer|subjectAltName|SSL certificate)|Trying|TCP_NODELAY|Mark bundle|Connection #\\d|Using HTTP2|using HTTP|old SSL)",
        "^[{}] \\[\\d+ bytes data\\]"
      ],
      maxChars: 40000
    },
    preserve: {
      errorPatterns: ["^curl: \\(\\d+\\)", "^[<>] (?:HTTP/|[A-Z]+ /)"],
      summaryPatterns: ["^HTTP/"]
    },
    tests: [
      {
        name: "drops the meter and keeps the status",
        command: "curl -v https://example.com",
        input: text([
          "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current",
          "                                 Dload  Upload   Total   Spent    Left  Speed",
          "* TLSv1.3 (OUT), TLS handshake, Client hello (1):",
          "> GET / HTTP/1.1",
          "> Host: example.com",
          "< HTTP/1.1 404 Not Found",
          "< Content-Type: text/plain",
          "not here"
        ]),
        expected: text([
          "> GET / HTTP/1.1",
          "> Host: example.com",
          "< HTTP/1.1 404 Not Found",
          "< Content-Type: text/plain",
          "not here"
        ])
      },
      {
        name: "keeps why it failed",
        command: "curl https://x",
        input: text([
          "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current",
          "curl: (6) Could not resolve host: x"
        ]),
        expected: text(["curl: (6) Could not resolve host: x"])
      }
    ]
  },
  {
    id: "wget",
    label: "wget, aria2c",
    description: "What was saved, without the meter.",
    category: "network",
    priority: 50,
    match: {
      commands: ["^(?:wget|aria2c|axel)\\b"]
    },
    rules: {
      dropPatterns: [
        "^ *\\d+K[ .]+ +\\d+%",
        "^ *\\d+K[ .]+\\d+%",
        "^Resolving ",
        "^Connecting to .* connected\\.$",
        "^\\S+ +\\d+%\\["
      ]
    },
    preserve: {
      errorPatterns: ["ERROR \\d+"],
      summaryPatterns: [" saved \\[", "^Length: ", "^HTTP request sent"]
    },
    tests: [
      {
        name: "keeps status and size",
        command: "wget https://example.com/a.zip",
        input: text([
          "--2026-11-23 10:00:00--  https://example.com/a.zip",
          "Resolving example.com (example.com)... 93.184.216.34",
          "Connecting to example.com|93.184.216.34|:443... connected.",
          "HTTP request sent, awaiting response... 200 OK",
          "Length: 1256 (1.2K) [application/zip]",
          "     0K .                                                     100% 12.0M=0s",
          "2026-11-23 10:00:01 (12.0 MB/s) - 'a.zip' saved [1256/1256]"
        ]),
        expected: text([
          "--2026-11-23 10:00:00--  https://example.com/a.zip",
          "HTTP request sent, awaiting response... 200 OK",
          "Length: 1256 (1.2K) [application/zip]",
          "2026-11-23 10:00:01 (12.0 MB/s) - 'a.zip' saved [1256/1256]"
        ])
      },
      {
        name: "keeps a refusal",
        command: "wget https://x/y",
        input: text([
          "HTTP request sent, awaiting response... 404 Not Found",
          "2026-11-23 10:00:00 ERROR 404: Not Found."
        ]),
        expected: text([
          "HTTP request sent, awaiting response... 404 Not Found",
          "2026-11-23 10:00:00 ERROR 404: Not Found."
        ])
      }
    ]
  },
  {
    id: "ping",
    label: "ping, traceroute, dig, nslookup",
    description: "The sums, with the first and last answer.",
    category: "network",
    priority: 50,
    match: {
      commands: ["^(?:ping|ping6|traceroute|mtr|dig|nslookup|host|nc|nmap|ss|netstat|ip|ifconfig|lsof)\\b"]
    },
    rules: {
      collapsePatterns: ["^\\d+ bytes from "],
      dropPatterns: ["^;; (?:global options|Got answer|WHEN|MSG SIZE)", "^; <<>> DiG"],
      replace: [
        {
          pattern: "(\\S) {4,}",
          replacement: "$1   "
        }
      ],
      headLines: 80,
      tailLines: 40
    },
    preserve: {
      summaryPatterns: ["packet loss", "^rtt ", "^round-trip"]
    },
    tests: [
      {
        name: "shortens answers and keeps the sums",
        command: "ping -c 5 a",
        input: text([
          "PING a (10.0.0.1) 56(84) bytes of data.",
          "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.01 ms",
          "64 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=0.02 ms",
          "64 bytes from 10.0.0.1: icmp_seq=3 ttl=64 time=0.03 ms",
          "64 bytes from 10.0.0.1: icmp_seq=4 ttl=64 time=0.04 ms",
          "64 bytes from 10.0.0.1: icmp_seq=5 ttl=64 time=0.05 ms",
          "",
          "--- a ping statistics ---",
          "5 packets transmitted, 5 received, 0% packet loss, time 4000ms",
          "rtt min/avg/max/mdev = 0.010/0.030/0.050/0.010 ms"
        ]),
        expected: text([
          "PING a (10.0.0.1) 56(84) bytes of data.",
          "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.01 ms",
          "… 3 lines like these",
          "64 bytes from 10.0.0.1: icmp_seq=5 ttl=64 time=0.05 ms",
          "",
          "--- a ping statistics ---",
          "5 packets transmitted, 5 received, 0% packet loss, time 4000ms",
          "rtt min/avg/max/mdev = 0.010/0.030/0.050/0.010 ms"
        ])
      },
      {
        name: "keeps answers of a name server",
        command: "dig a.example",
        input: text([
          "; <<>> DiG 9.20 <<>> a.example",
          ";; global options: +cmd",
          ";; Got answer:",
          ";; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: 1",
          ";; WHEN: Mon Nov 23 10:00:00 UTC 2026"
        ]),
        expected: text([";; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: 1"])
      }
    ]
  },
  {
    id: "ssh",
    label: "ssh",
    description: "The output of the other machine, without banners.",
    category: "network",
    priority: 50,
    match: {
      commands: ["^(?:ssh|mosh|sshpass)\\b"]
    },
    rules: {
      dropPatterns: [
        "^Warning: Permanently added ",
        "^Welcome to (?:Ubuntu|Debian)",
        "^ \\* (?:Documentation|Management|Support): ",
        "^\\d+ updates? can be applied",
        "^Last login: ",
        "^debug[123]: "
      ]
    },
    tests: [
      {
        name: "drops the banner",
        command: "ssh a uptime",
        input: text([
          "Warning: Permanently added 'a' (ED25519) to the list of known hosts.",
          "Welcome to Ubuntu 24.04.1 LTS",
          " * Documentation:  https://help.ubuntu.com",
          "Last login: Mon Nov 23 09:00:00 2026 from 10.0.0.2",
          " 10:00:00 up 2 days"
        ]),
        expected: text([" 10:00:00 up 2 days"])
      },
      {
        name: "keeps why it failed",
        command: "ssh a",
        input: text(["debug1: Connecting to a port 22.", "a: Permission denied (publickey)."]),
        expected: text(["a: Permission denied (publickey)."])
      }
    ]
  }
]
