/** The decrypting server, its certificate authority, and the transparent mode (docs/capture.md). Loopback only, as `Capture`. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { CertificateView, MaybeCertificate, SudoPassword } from "../../contract/traffic/CaptureViews.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { BadRequestAnswer, ConflictAnswer, NotFoundAnswer, UnavailableAnswer } from "../../contract/Errors.ts"
import { exampleTime } from "../../contract/Examples.ts"
import { body, Created, NoContent, optional } from "../../contract/Inputs.ts"
import { observed } from "../../kernel/Observed.ts"

const Ok = field(Schema.Literal(true), "Always true.")

const ServerView = Schema.Struct({
  running: field(Schema.Boolean, "Whether it listens.", true),
  port: field(Schema.NullOr(Schema.Number), "Where, on 127.0.0.1 and ::1; null: it does not run.", 443),
  startedAt: field(Schema.NullOr(Schema.String), "Since when, ISO 8601; null: it does not run.", exampleTime)
}).annotations({ identifier: "CaptureServer" })

export const serverActions = ["start", "stop", "restart", "trust-cert", "untrust-cert", "regenerate-cert"] as const
export const ServerAction = Schema.Struct({
  action: field(
    Schema.Literal(...serverActions).annotations({
      message: () => ({ message: `must be one of ${serverActions.join(", ")}`, override: true })
    }),
    "What to do.",
    "stop"
  ),
  sudoPassword: SudoPassword
}).annotations(body("CaptureServerAction"))

const Strings = Schema.Array(Schema.String.pipe(Schema.maxLength(1_000)))
export const SetBypass = Schema.Struct({
  patterns: field(Strings, "Host names, in which * stands for any text. They replace those of before.", [
    "*.intranet.example"
  ])
}).annotations(body("SetBypass"))
const BypassView = Schema.Struct({
  patterns: field(
    Schema.Array(
      Schema.Struct({
        pattern: field(Schema.String, "The host names.", "*.bank.*"),
        source: field(Schema.Literal("default", "user"), "Whether it is built in, or a person's.", "default")
      })
    ),
    "Hosts that are never decrypted, whatever else holds."
  )
}).annotations({ identifier: "BypassPatterns" })

/** A real one, whose key is gone: examples have to work. */
const examplePem = [
  "-----BEGIN CERTIFICATE-----",
  "MIIBjjCCATOgAwIBAgIUeEBMlZ/kuNpByTJt5ypeRQg60oEwCgYIKoZIzj0EAwIw",
  "HDEaMBgGA1UEAwwRRXhhbXBsZSBhdXRob3JpdHkwHhcNMjYxMTI0MjEzNTEyWhcN",
  "NDYxMTE5MjEzNTEyWjAcMRowGAYDVQQDDBFFeGFtcGxlIGF1dGhvcml0eTBZMBMG",
  "ByqGSM49AgEGCCqGSM49AwEHA0IABM7xTflumAy+AR1ofSnhOWLg90VaQTD3VpDq",
  "xf1FnfJ0uZieoWB+d0EKAp0R/ZoOx9wtY6AXYtZ7A3pG8d3/dyqjUzBRMB0GA1Ud",
  "DgQWBBSqkMCzgAXWAExOqxO1QuQQbf+2lDAfBgNVHSMEGDAWgBSqkMCzgAXWAExO",
  "qxO1QuQQbf+2lDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDg",
  "m4B+yiiHfxfyROCqeM+WrPJcYOZMcfmOF+6QwVUjiAIhAK8MeSLGIPoErpt/Xcnr",
  "rkQl/V1lr5piQWgsJaKgJhKr",
  "-----END CERTIFICATE-----"
].join("\n")
export const SetUpstreamCa = Schema.Struct({
  pem: field(Schema.String.pipe(Schema.maxLength(1_048_576)), "The certificate itself, not a path.", examplePem)
}).annotations(body("SetUpstreamCa"))
const UpstreamCaView = Schema.Struct({
  pem: field(Schema.NullOr(Schema.String), "Its certificate; null: none is set.", examplePem)
}).annotations({ identifier: "UpstreamCa" })

const configFields = {
  recordPassthrough: field(
    optional(Schema.Boolean),
    "Whether requests to agents' hosts that the bridge does not answer are recorded; absent: as it is.",
    true
  ),
  idleTimeoutMs: field(
    optional(Schema.Number),
    "After how many milliseconds idle connections are ended; for listeners that are started from now on. Absent: as it is.",
    300_000
  )
}
export const SetConfig = Schema.Struct({
  ...configFields,
  config: field(optional(Schema.Struct(configFields)), "The same two, as they are answered.", {
    recordPassthrough: true,
    idleTimeoutMs: 300_000
  })
}).annotations(body("SetCaptureConfig"))
const ConfigView = Schema.Struct({
  config: field(
    Schema.Struct({
      recordPassthrough: field(Schema.Boolean, "Whether requests that are only relayed are recorded.", true),
      idleTimeoutMs: field(Schema.Number, "After how many milliseconds idle connections are ended.", 300_000)
    }),
    "What is in force."
  )
}).annotations({ identifier: "CaptureConfig" })

export const CheckView = Schema.Struct({
  id: field(Schema.String, "What was checked.", "hosts-file"),
  ok: field(Schema.Boolean, "Whether it is as it should be.", true),
  detail: field(Schema.String, "What was found.", "The hosts file /etc/hosts is in order."),
  hint: field(Schema.NullOr(Schema.String), "What to do about it; null: nothing.", null)
}).annotations({ identifier: "CaptureCheck" })

const whole = (most: number) =>
  Schema.Number.pipe(Schema.finite()).annotations({ jsonSchema: { type: "integer", minimum: 1, maximum: most } })
export const StartTproxy = Schema.Struct({
  dport: field(optional(whole(65_535)), "TCP port of the connections that are captured; absent: 443.", 443),
  mark: field(optional(whole(0xffff_ffff)), "Firewall mark of their packets; absent: 0x2333.", 9011),
  onPort: field(optional(whole(65_535)), "Port of the listener; absent: 8443.", 8443),
  routeTable: field(optional(whole(0xffff_ffff)), "Number of the routing table; absent: 233.", 233),
  bypassMark: field(
    optional(whole(0xffff_ffff)),
    "Firewall mark of the gateway's own connections; absent: 0x539.",
    1337
  ),
  sudoPassword: SudoPassword
}).annotations(body("StartTransparentCapture"))

export const TproxyView = Schema.Struct({
  running: field(Schema.Boolean, "Whether it captures.", false),
  available: field(Schema.Boolean, "Whether this machine can.", true),
  reason: field(Schema.NullOr(Schema.String), "Why it cannot; null: it can.", null),
  startedAt: field(Schema.NullOr(Schema.String), "Since when, ISO 8601; null: it does not run.", null),
  interceptCount: observed(Schema.Number, "Exchanges and tunnels of this session.", 0),
  onPort: field(Schema.NullOr(Schema.Number), "Port of its listener; null: it does not run.", null),
  ipv6: field(Schema.Boolean, "Whether IPv6 is captured as well.", false),
  tunnelled: observed(
    Schema.Array(
      Schema.Struct({
        host: field(Schema.String, "The host.", "api.example.com"),
        until: field(Schema.String, "Until when, ISO 8601.", exampleTime),
        why: field(Schema.String, "What its clients did: `alert` or `no_bytes`.", "alert")
      })
    ),
    "Hosts that are handed on unread for a while, because their clients do not trust the certificate."
  ),
  notCaptured: observed(Schema.Array(Schema.String), "What it cannot see, in sentences.", [
    "Connections of containers and virtual machines: their packets are forwarded, not made here."
  ])
}).annotations({ identifier: "TransparentCapture" })
export type TproxyView = typeof TproxyView.Type

const AgentView = Schema.Struct({
  id: field(Schema.String, "Its id.", "claude-code"),
  name: field(Schema.String, "Its name.", "Claude Code"),
  hosts: field(Schema.Array(Schema.String), "Hosts of its vendor.", ["api.anthropic.com"]),
  port: field(Schema.Number, "Their port.", 443),
  endpointPatterns: field(Schema.Array(Schema.String), "Paths of calls to a model; * stands for any text.", [
    "/v1/messages"
  ]),
  defaultModels: field(
    Schema.Array(
      Schema.Struct({
        id: field(Schema.String, "The id that it sends; * stands for any text.", "claude-sonnet-4-5*"),
        name: field(Schema.String, "Its name.", "Claude Sonnet 4.5"),
        alias: field(Schema.String, "A short name.", "sonnet")
      })
    ),
    "Models that it asks for."
  ),
  viability: field(
    Schema.Literal("routed", "recorded", "investigating"),
    "`routed`: its program was seen at work through the gateway; `recorded`: its calls can be read, and answered where their model is mapped; `investigating`: not even that.",
    "routed"
  ),
  riskNotice: field(Schema.String, "What to think of before.", "The vendor's terms may forbid other models."),
  dnsEnabled: field(Schema.Boolean, "Whether its hosts are sent to the gateway.", false),
  certTrusted: field(Schema.Boolean, "Whether this system trusts the gateway's certificate authority.", false),
  setupCompleted: field(
    Schema.Boolean,
    "Whether a request to its hosts was read here once: they lead here, and its program trusts the certificate.",
    false
  ),
  lastStartedAt: field(Schema.NullOr(Schema.String), "When it was last switched on, ISO 8601.", null),
  lastError: field(Schema.NullOr(Schema.String), "Why that did not work; null: it did.", null),
  setup: field(
    Schema.Struct({
      steps: field(Schema.Array(Schema.String), "What a person does.", ["Start the program anew."]),
      detection: field(Schema.NullOr(Schema.String), "The program that is looked for; null: none.", "claude")
    }),
    "How it is set up."
  )
}).annotations({ identifier: "BridgedAgent" })
export type AgentView = typeof AgentView.Type

export const SetDns = Schema.Struct({
  enabled: field(Schema.Boolean, "Whether its hosts are sent to the gateway.", false)
}).annotations(body("SetAgentDns"))

const Model = Schema.String.pipe(Schema.maxLength(1_000))
const mappingFields = {
  mappings: field(
    Schema.Array(
      Schema.Struct({
        sourceModel: field(Model, "The model that the agent asks for; * stands for any text.", "claude-opus-4-5*"),
        targetModel: field(Model, "The model of this gateway that answers.", "openai/gpt-5")
      })
    ),
    "Models that this gateway answers in place of the vendor."
  )
}
export const SetMappings = Schema.Struct(mappingFields).annotations(body("SetAgentMappings"))
const MappingsView = Schema.Struct(mappingFields).annotations({ identifier: "AgentMappings" })

const at = endpointsOf("agentBridge", { id: ["Id of the agent.", "claude-code"] })

export class AgentBridge extends HttpApiGroup.make("agentBridge")
  .annotate(OpenApi.Title, "Agent bridge")
  .annotate(OpenApi.Description, "The decrypting server, its certificate authority, and the transparent mode.")
  .add(
    at("state", {
      summary: "Show the decrypting server",
      description: "With its certificate authority and the agents."
    })
      .addSuccess(
        Schema.Struct({
          server: field(ServerView, "The server that custom hosts and hosts of agents lead to."),
          cert: MaybeCertificate,
          agents: field(Schema.Array(AgentView), "The agents.")
        }).annotations({ identifier: "AgentBridgeState" })
      )
      .addError(UnavailableAnswer)
  )
  .add(
    at("server", {
      summary: "Control the decrypting server",
      description:
        "A server that is stopped by this takes its names out of the hosts file, and stays off after a restart. `trust-cert` puts the certificate authority into the trust store of this system, until `untrust-cert`."
    })
      .setPayload(ServerAction)
      .addSuccess(
        Schema.Struct({
          ok: Ok,
          server: field(ServerView, "The server."),
          cert: MaybeCertificate,
          warnings: field(Schema.Array(Schema.String), "What did not work although the rest did.", [])
        }).annotations({ identifier: "CaptureServerAnswer" })
      )
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("agents", {
      summary: "List agents",
      description: "Coding agents whose calls can be captured, and answered by this gateway."
    })
      .addSuccess(
        Schema.Struct({ agents: field(Schema.Array(AgentView), "The agents.") }).annotations({
          identifier: "BridgedAgents"
        })
      )
      .addError(UnavailableAnswer)
  )
  .add(
    at("agent", { summary: "Show an agent", description: "With its set-up and what to think of before." })
      .addSuccess(
        Schema.Struct({ agent: field(AgentView, "The agent.") }).annotations({ identifier: "BridgedAgentAnswer" })
      )
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("agentDns", {
      summary: "Send an agent's hosts to the gateway",
      description: "Starts the decrypting server and writes the hosts file. `warning`: why that did not work."
    })
      .setPayload(SetDns)
      .addSuccess(
        Schema.Struct({
          ok: Ok,
          agent: field(AgentView, "The agent as it is now."),
          warning: field(
            Schema.optionalWith(Schema.String, { exact: true }),
            "Why its hosts do not lead here.",
            "The hosts file cannot be written."
          )
        }).annotations({ identifier: "AgentDnsAnswer" })
      )
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("detectAgent", {
      summary: "Look for an agent's program",
      description: "On the PATH of the gateway; it is run with --version."
    })
      .addSuccess(
        Schema.Struct({
          installed: field(Schema.Boolean, "Whether it is there.", true),
          version: field(Schema.NullOr(Schema.String), "Its version; null: not told.", "2.1.0")
        }).annotations({ identifier: "DetectedAgent" })
      )
      .addError(NotFoundAnswer)
  )
  .add(
    at("mappings", {
      summary: "Show an agent's models",
      description: "Which of them this gateway answers, and with which of its own."
    })
      .addSuccess(MappingsView)
      .addError(NotFoundAnswer)
  )
  .add(
    at("setMappings", {
      summary: "Set an agent's models",
      description: "They replace those of before.",
      example: { mappings: [] }
    })
      .setPayload(SetMappings)
      .addSuccess(MappingsView)
      .addError(BadRequestAnswer)
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("bypass", {
      summary: "List hosts that are never decrypted",
      description: "Built-in patterns, then your own."
    }).addSuccess(BypassView)
  )
  .add(
    at("setBypass", {
      summary: "Set your patterns of hosts that are never decrypted",
      description: "They replace those of before; for new connections at once."
    })
      .setPayload(SetBypass)
      .addSuccess(BypassView)
      .addError(BadRequestAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("cert", { summary: "Show the certificate authority", description: "Null while none was made." })
      .addSuccess(Schema.Struct({ cert: MaybeCertificate }).annotations({ identifier: "CaptureCertificateAnswer" }))
      .addError(UnavailableAnswer)
  )
  .add(
    at("downloadCert", {
      summary: "Download the certificate",
      description: "In PEM form; it is made when there is none. The key stays on this machine."
    })
      .addSuccess(
        HttpApiSchema.Text({ contentType: "application/x-pem-file" }).annotations({
          description: "The certificate.",
          examples: [examplePem]
        })
      )
      .addError(UnavailableAnswer)
  )
  .add(
    at("regenerateCert", {
      summary: "Make another certificate authority",
      description: "The one before is taken out of the trust store; the new one is not trusted yet."
    })
      .addSuccess(
        Schema.Struct({ cert: field(CertificateView, "The new certificate.") }).annotations({
          identifier: "NewCaptureCertificate"
        })
      )
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("upstreamCa", {
      summary: "Show the extra authority for servers",
      description: "Certificates of servers that it signed are accepted, beside those of public authorities."
    }).addSuccess(UpstreamCaView)
  )
  .add(
    at("setUpstreamCa", {
      summary: "Set the extra authority for servers",
      description: "Such as that of a company's proxy."
    })
      .setPayload(SetUpstreamCa)
      .addSuccess(UpstreamCaView)
      .addError(BadRequestAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("removeUpstreamCa", {
      summary: "Remove the extra authority for servers",
      description: "Safe when there is none."
    })
      .addSuccess(NoContent)
      .addError(UnavailableAnswer)
  )
  .add(at("config", { summary: "Show settings of capture", description: "What is in force." }).addSuccess(ConfigView))
  .add(
    at("setConfig", { summary: "Change settings of capture", description: "What is left out stays as it is." })
      .setPayload(SetConfig)
      .addSuccess(ConfigView)
      .addError(BadRequestAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("diagnose", { summary: "Check what capture needs and has changed", description: "Changes nothing." })
      .addSuccess(
        Schema.Struct({ checks: field(Schema.Array(CheckView), "The checks.") }).annotations({
          identifier: "CaptureChecks"
        })
      )
      .addError(UnavailableAnswer)
  )
  .add(
    at("repair", {
      summary: "Repair what capture has changed",
      description: "Takes back what ended gateways left, mends the hosts file and writes the custom hosts again."
    })
      .addSuccess(
        Schema.Struct({
          repaired: field(Schema.Array(Schema.String), "Checks that failed and do not any more.", ["journal"])
        }).annotations({ identifier: "CaptureRepaired" })
      )
      .addError(UnavailableAnswer)
  )
  .add(
    at("tproxy", {
      summary: "Show the transparent mode",
      description: "Whether it runs or can run, and what it does not see."
    }).addSuccess(TproxyView)
  )
  .add(
    at("startTproxy", {
      summary: "Start the transparent mode",
      description:
        "Captures HTTPS of all programs of this machine by firewall rules (Linux, network-admin capability). One session at a time. When a step fails, all is taken back.",
      example: {}
    })
      .setPayload(StartTproxy)
      .addSuccess(Created(TproxyView))
      .addError(BadRequestAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("stopTproxy", { summary: "Stop the transparent mode", description: "Also when it does not run." }).addSuccess(
      Schema.Struct({
        running: field(Schema.Literal(false), "Always false."),
        brokenConnections: field(Schema.Number, "Captured connections that ended by it.", 0)
      }).annotations({ identifier: "TransparentCaptureStopped" })
    )
  ) {}
