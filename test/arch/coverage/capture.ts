/** Where each statement on capture and the agent bridge is shown. Suites named `.suite.ts` are run by `.ci/native` and `npm run test:bridge`. */
import { type StatementRow, statement } from "./Statement.ts"

const gateway = "test/native/gateway.suite.ts"
const cases = "test/native/cases.suite.ts"
const trust = "test/native/trust.suite.ts"
const transparent = "test/native/transparent.suite.ts"
const http = "test/http/capture/capture.test.ts"
const proxy = "test/unit/capture/proxy/HttpProxy.test.ts"
const desktop = "test/unit/capture/host/SystemProxy.test.ts"
const http2 = "test/unit/capture/tls/Http2.test.ts"
const listener = "test/unit/capture/tls/Listener.test.ts"
const certificates = "test/unit/capture/tls/Certificates.test.ts"
const rules = "test/unit/capture/transparent/Rules.test.ts"
const kills = "test/faults/capture/kills.slow.test.ts"
const commands = "test/cli/capture.test.ts"

export const captureRows: ReadonlyArray<StatementRow> = [
  statement("Routes of capture are for this machine alone, and say so before they look at a credential", [
    http,
    "answers 403 before 401 where a request came by another machine, and 401 without a key"
  ]),
  statement("A gateway that captures nothing has nothing of it loaded", [
    http,
    "is not there in a gateway that captures nothing"
  ]),
  statement(
    "Custom hosts stand in the hosts file, which keeps every other byte, and lead to the decrypting server",
    [http, "stand in the hosts file byte for byte, and leave it as it was"],
    [
      gateway,
      "are captured for all programs by their name, over both families, and the hosts file is as it was afterwards"
    ]
  ),
  statement("Names that are none are refused; hosts are enabled, disabled, removed and taken up by the next start", [
    http,
    "that are none are refused, with nothing done",
    "are taken up again by the next start, and given back by each end"
  ]),
  statement(
    "The HTTP proxy takes CONNECT and plain HTTP, and records host, port and time of tunnels alone until TLS is intercepted",
    [
      proxy,
      "passes requests with an absolute URL on in origin form, without what is meant for the proxy",
      "opens tunnels of which only host, port and time are recorded",
      "hands tunnels to the listener where TLS is intercepted"
    ],
    [http, "records that a tunnel was there, and with TLS intercepted what went through it"]
  ),
  statement("A port that is taken is a 409 that says which and what to do", [
    http,
    "whose port is taken is a conflict that says what to do"
  ]),
  statement(
    "The desktop's proxy is set to the listener, its former state kept before, and given back by hand or at its deadline",
    [http, "is set to the running proxy alone, and given back as it was"],
    [
      desktop,
      "is set and given back as it was: %s",
      "is given back by itself at the deadline, which a second call moves",
      "keeps a value that somebody changed meanwhile, and says so"
    ],
    [kills, "leaves the desktop's proxy as it was"]
  ),
  statement(
    "The transparent mode starts with all of its parts, and one at a time",
    [
      gateway,
      "captures what programs send, over both families, and leaves nothing when it is stopped",
      "refuses a second start, also while the first is under way, and stops what is about to start"
    ],
    [transparent, "runs once, and a stop waits for a start that is under way"]
  ),
  statement(
    "All values of a start are judged before anything is done",
    [http, "says whether it can run, and judges all values before anything is done"],
    [gateway, "executes nothing for values that cannot be used, a table, mark or port that is in use"],
    [rules, "takes the defaults and the bounds"]
  ),
  statement("Where a command fails, all before it are taken back and the failure is told", [
    transparent,
    "leaves nothing behind when command %i fails, and says which it was",
    "leaves nothing behind when command %i fails where there is nft alone"
  ]),
  statement("Rules are made in order, and taken back in the reverse one, for both families", [
    rules,
    "routes marked packets to this machine, hands them to the listener, and marks connections last",
    "takes back in reverse order what it made, for both families"
  ]),
  statement(
    "What the gateway itself sends is never captured",
    [gateway, "captures none of a hundred calls of the gateway to a provider, and none of them fails"],
    [transparent, "does not capture the gateway's own calls, and loses none of them"]
  ),
  statement("Connections that stood before a start live on", [
    transparent,
    "lets connections live that stood before, through start and stop: %s"
  ]),
  statement(
    "Traffic is decrypted by a certificate for each host, recorded, and sent on encrypted to where it was meant for",
    [transparent, "captures curl and Node over IPv4 and IPv6, and gives the machine back"],
    [listener, "decrypts HTTP/1.1 of a client that names its server, and passes both ways on as they came"]
  ),
  statement(
    "HTTP/2 is decrypted where the client would have it and its server speaks it, and without TLS where the client begins with it; recorded as HTTP/1.1 is, with its version",
    [
      http2,
      "goes by both ways as it came, and is recorded with its version",
      "is answered to a client that speaks nothing else (gRPC), with trailers both ways",
      "has many requests at once over one connection to the server, and answers them in any order",
      "passes a reset of the server on with its reason, after what came before it",
      "ends the request to the server when the client takes it back, and no other",
      "holds a server back whose client does not read, and no other request of that connection",
      "serves curl and undici",
      "goes by without TLS where a client knows its server",
      "is what its server chose, over one connection to it"
    ],
    [http, "reads HTTP/2 of curl through the proxy, and tells the version in records and archives"],
    [cases, "decrypts HTTP/2 of a client that speaks nothing else"]
  ),
  statement(
    "Connections of HTTP/2 are bounded: requests at once, heads, bodies under way, requests that are taken back",
    [
      http2,
      "end a connection whose client takes back one request after the other",
      "refuse a request beyond those at once so that it can be asked again",
      "refuse a head that is %s, and go on with others",
      "refuse a head of an answer that is too long",
      "forwards large bodies whole both ways and copies their beginning alone",
      "end a connection over which nothing goes"
    ],
    [
      "test/unit/capture/tls/Http2Broken.test.ts",
      "breaks that request alone: %s, and then leaves: %s",
      "ends its connection, whatever it is, and nothing else"
    ]
  ),
  statement(
    "What cannot be decrypted is handed on: HTTP/2 alone to a server that speaks none, servers that speak first, clients that do not trust the authority",
    [http2, "is handed on unread where it speaks nothing else and the server does not"],
    [
      cases,
      "hands a connection on where the server speaks first",
      "tunnels a host whose client says that it does not trust the authority, and tells it once",
      "tunnels a host whose client leaves twice without a word"
    ],
    [listener, "does not touch hosts that are never decrypted"]
  ),
  statement("The certificate of a server is verified, unless the flag says otherwise", [
    cases,
    "answers 502 for a server whose certificate is not good, with the reason in the record"
  ]),
  statement(
    "The authority is RSA-2048 with SHA-256 for ten years, a host's certificate for one year and the host alone",
    [
      certificates,
      "is a CA of RSA-2048 and SHA-256 for ten years",
      "issues certificates that the strictest check takes, for one year and the host alone"
    ]
  ),
  statement(
    "Programs trust the authority of a session while it runs, and nothing of it is left afterwards",
    [
      trust,
      "is given to a session's authority by the transparent mode, and ends with it",
      "is given by the trust store of the system, to the lasting authority, and taken back without a trace"
    ],
    [kills, "leaves the trust store as it was"]
  ),
  statement("A password for sudo goes to the input of one sudo, and into no file, log, argument or environment", [
    trust,
    "may be given with a password, which goes to the input of one sudo and nowhere else"
  ]),
  statement("Connections over which nothing goes end", [cases, "ends connections over which nothing goes"]),
  statement(
    "After kill -9 the rules are gone within a second, and everything else at the latest after the next start",
    [transparent, "takes its rules back within a second of kill -9, again and again"],
    [
      gateway,
      "has its rules taken back at once, and its authority, links and Java's alias after that",
      "together with its watchdog leaves it to the next start"
    ],
    [kills, "leaves the hosts file as it was"],
    [commands, "together with its watchdog is found by doctor and put right by capture restore"]
  ),
  statement("Starts, stops, trust and what is taken back are told to the hub and the audit log", [
    http,
    "is told to the hub and the audit log, once for each change and without a password"
  ]),
  statement(
    "`capture run` gives a command alone the proxy and the certificate",
    [commands, "gives a command the proxy and the certificate, and has its exit code"],
    [trust, "is given by capture run to the command alone"]
  )
]

const bridge = "test/http/bridge/bridge.test.ts"
const agents = "test/agents/bridge/bridge.suite.ts"
const decide = "test/unit/bridge/Decide.test.ts"

export const bridgeRows: ReadonlyArray<StatementRow> = [
  statement(
    "Nine agents are known by their hosts",
    [decide, "have the ids of the API, and hosts of their own"],
    [http, "are nine, have models that are judged, and are captured by their hosts"]
  ),
  statement("The page about agents says what was seen of each", [
    "test/unit/bridge/Agents.test.ts",
    "has a row for each, with what was seen of it and what was tried"
  ]),
  statement("Claude Code, OpenCode and Codex, unmodified, finish rounds of tools through the bridge", [
    agents,
    "reads and changes a file by its own tools, answered by ${label} in place of its vendor"
  ]),
  statement(
    "A bypass goes before a mapping, a mapping before passing on",
    [agents, "answers what is mapped, passes on what is not, and reads nothing of what is bypassed"],
    [bridge, "puts a bypass before a mapping, also for a connection that stands"]
  ),
  statement(
    "Every call is recorded, those that are passed on too unless that is switched off",
    [agents, "records no passthrough where that is switched off, and leaves the hosts file as it was"],
    [
      bridge,
      "answers a mapped model in the agent's wire, and records the call",
      "passes on what is not mapped, as it came"
    ]
  ),
  statement("A set-up is complete with the first request that can be read", [
    bridge,
    "calls a set-up complete with the first request to the agent's host that it can read"
  ]),
  statement("Code Assist is answered in its wrapper", [
    bridge,
    "answers Code Assist in its wrapper, whole and as a stream"
  ])
]
