/** Written text of each skill: its name, its use, and frequent mistakes. Everything else of a page is derived. */
import type { SkillId } from "../../subjects/skills/entity.ts"

export interface SkillText {
  readonly name: string
  /** Describes when an agent should read it; one sentence or two. */
  readonly description: string
  /** Sentences below the overview. */
  readonly notes: ReadonlyArray<string>
  readonly pitfalls: ReadonlyArray<string>
}

const words = (
  name: string,
  description: string,
  notes: ReadonlyArray<string> = [],
  pitfalls: ReadonlyArray<string> = []
): SkillText => ({ name, description, notes, pitfalls })

export const skillWords: Readonly<Record<SkillId, SkillText>> = {
  "gw-auth": words(
    "Gateway login and access",
    "Log in to a gateway, find out who you are, and sign in at providers that use accounts instead of keys.",
    ["Most work needs no login: an API key of scope `manage` or the admin key is sent as `Authorization: Bearer`."],
    [
      "A change with the session's cookie needs the header `X-CSRF-Token`; its value is in the answer of the login.",
      "Five wrong passwords from one address lock that address for 15 minutes: ask the owner instead of guessing."
    ]
  ),
  "gw-providers": words(
    "Gateway providers and connections",
    "Connect AI providers to the gateway with a key or an address, test them, list their models, and remove them.",
    [
      "A connection is one credential at one provider. A provider that is not built in is added as a node first: its address and the wires it speaks."
    ],
    [
      "Keys are masked in every answer. To change one, send the new one; a masked value is refused.",
      "After adding a connection, test it: adding does not ask the provider whether the key is accepted."
    ]
  ),
  "gw-models": words(
    "Gateway models, aliases and prices",
    "Find out which models the gateway offers and what they can, give them other names, declare what a provider does not say, set prices, and compare models with evals.",
    [],
    [
      "A model's id for clients is `<provider>/<model>`, an alias, or the name of a combo.",
      "Prices are USD per million tokens unless the field's name says otherwise."
    ]
  ),
  "gw-combos-routing": words(
    "Gateway combos and routing",
    "Make a combo (a list of models with a strategy) that clients use as a model, see why a request went where it went, and simulate changes before making them.",
    ["Ask `POST /api/routing/explain` what would be chosen; it calls no provider and costs nothing."],
    [
      "The name of a combo must not be the id of a model.",
      "A combo that names another one may not lead back to itself."
    ]
  ),
  "gw-api-keys": words(
    "Gateway API keys",
    "Make keys for clients with their own models, limits, schedule and expiry, rotate them, and revoke them.",
    [],
    [
      "The secret of a key is shown once, in the answer that makes it.",
      "A rotated key's old secret stops at once unless `overlapSeconds` is given."
    ]
  ),
  "gw-usage-logs": words(
    "Gateway usage, logs and audit",
    "See what was asked, by whom, at which model, how long it took and what it cost; export it, read the audit log of changes, and look into captured traffic: what a tool really sent, what came back, and who broke the prompt cache.",
    [
      "The traffic inspector (`/api/tools/traffic-inspector`) answers direct connections from the gateway's own machine only. What it captures is switched on with skill `gw-cli-tools`; the gateway's own traffic with `POST /api/tools/traffic-inspector/capture-modes/gateway`."
    ],
    [
      "Lists are in pages: go on with `cursor` from `nextCursor` until it is null.",
      "A replay is an ordinary request: it is paid, and counts for the limits of the key that asks for it."
    ]
  ),
  "gw-budget": words(
    "Gateway budgets and limits",
    "Limit what an API key may spend or use per day, week or month, and see what is left.",
    [],
    [
      "A request is refused when its greatest possible cost does not fit the rest of the budget, not when the budget is used up."
    ]
  ),
  "gw-settings": words(
    "Gateway settings, flags and guardrails",
    "Read and change the settings of the whole gateway: access, IP filter, system prompt, thinking budget, guardrails and feature flags.",
    ["PATCH changes the fields that are sent, PUT replaces the whole object."],
    ["Feature flags need the session of a login; a key is refused. Unknown fields are refused, not ignored."]
  ),
  "gw-proxies": words(
    "Gateway outbound proxies",
    "Choose by which address calls to providers leave: add proxies, assign them to keys, connections, providers or all calls, and test them.",
    [
      "The proxy of the API key comes first, then that of the connection, of the provider, and the one of all calls; without any, calls go direct.",
      "An answer's header `X-Gateway-Egress` names the way it took."
    ],
    [
      "A call whose proxy is missing, inactive or down fails with 503 `PROXY_UNAVAILABLE`; it never goes direct. Removing a proxy does not take its assignments back."
    ]
  ),
  "gw-cache": words(
    "Gateway answer cache",
    "See what the cache of answers and the idempotency window hold and saved, and clear them.",
    ["The cache is off until the setting `cache.enabled` is true. Answers are kept per API key."],
    ["Only requests with `temperature` 0 are kept unless `cache.anyTemperature` is set."]
  ),
  "gw-compression": words(
    "Gateway prompt compression",
    "Make long requests smaller before they are sent: choose engines, build pipelines of them, try them on a text, and see what was saved.",
    [],
    [
      "Compression never touches the last turn of the user, code, error texts and what the client marked for the provider's prompt cache."
    ]
  ),
  "gw-context-rtk": words(
    "Gateway context: tool output and memory",
    "Control what becomes of long tool outputs and get the originals back; read, add and search what is remembered of callers.",
    [],
    ["A shortened output names the id under which `GET /api/context/rtk/raw-output/{id}` has all of it."]
  ),
  "gw-resilience": words(
    "Gateway resilience",
    "See which providers, accounts and models are held back and until when, clear that, and change breakers, cooldowns and retries.",
    [],
    ["Clearing a cooldown does not mend an account: when the provider refuses again, the cooldown comes back longer."]
  ),
  "gw-cli-tools": words(
    "Gateway set-up of coding tools",
    "Find coding tools on the gateway's machine and point them at the gateway, or capture and answer what they send elsewhere.",
    [
      "Tools whose address cannot be changed are captured: by the explicit proxy, by added hosts, or by the agent bridge, which answers them in place of their vendor (`docs/capture.md`). What was captured is read with skill `gw-usage-logs`.",
      "On another machine than the gateway's, use the commands `gateway setup-<tool>` and `gateway launch` there (skill `cli-setup`)."
    ],
    [
      "Capturing changes the machine: the hosts file, the trust store, the desktop's proxy setting. Ask the owner first; `gateway capture restore` takes all of it back."
    ]
  ),
  "gw-tunnels": words(
    "Gateway reach from elsewhere",
    "Open and close tunnels, by which the gateway is reached from elsewhere without an open port, and find out what may be asked of it from there.",
    [
      "`apiUrl` of an open tunnel is the base address for clients. Which tunnel is for what, and what is refused through one: `docs/tunnels.md`.",
      "Without a tunnel the gateway listens on loopback unless `HOST` says otherwise. To reach it from elsewhere, put a reverse proxy with TLS before it, or forward the port with ssh: `ssh -L 20128:127.0.0.1:20128 <host>`."
    ],
    [
      "Make keys required before a tunnel is opened (`REQUIRE_API_KEY=true`); without keys it is refused with 409 `keys_required`. Do not send `allowKeyless` unless the owner asks for it.",
      "The phase `needs_auth` is no failure to retry: a person has to give a token or log in; `lastError` and `authUrl` say where.",
      "Never send `sudoPassword` from elsewhere: it is refused, and it has crossed other machines by then."
    ]
  ),
  "gw-sync-cloud": words(
    "Gateway configuration sync",
    "Keep combos and aliases of several gateways the same by signed bundles.",
    [],
    ["Credentials are never part of a bundle."]
  ),
  "gw-db-backups": words(
    "Gateway backups",
    "Make, list, download and restore backups of the gateway's database.",
    [],
    [
      "A restore replaces the configuration; a backup of the present state is made first, and its id is in the answer.",
      "Credentials in a backup are encrypted: another machine needs the key file as well."
    ]
  ),
  "gw-webhooks": words(
    "Gateway webhooks",
    "Send events (failed requests, exhausted budgets, provider errors) to an address, signed, and see what was delivered.",
    [],
    [
      "After ten deliveries in a row that failed a webhook is disabled; enable it with `enabled: 1` once the receiver works."
    ]
  ),
  "gw-mcp": words("Gateway MCP server", "Use the gateway's operations as MCP tools, and see which were called.", [
    "The server speaks streamable HTTP at `/mcp`; `gateway --mcp` is the same over stdio. The key is sent as `Authorization: Bearer`.",
    "Registered servers (`/api/mcp/servers`) are offered there too, their tools named `<server>__<tool>`; a key needs the scope `execute:skills` for them. A server that is a program can be registered from the gateway's own machine only."
  ]),
  "gw-agents-a2a": words(
    "Gateway for agents: skills, A2A, ACP",
    "Read these skills over HTTP, talk to the gateway's own agent (A2A), and find agents installed beside it (ACP).",
    [
      "The agent card is at `/.well-known/agent-card.json`; requests are JSON-RPC 2.0 at `POST /a2a`, with the methods `message/send`, `message/stream`, `tasks/get` and `tasks/cancel`. The setting `a2aEnabled` turns it on."
    ]
  ),
  "gw-version-manager": words(
    "Gateway process: version, health, restart",
    "Ask whether the gateway runs and which version it is, read its API document, restart or stop it.",
    [],
    ["`POST /api/shutdown` ends the program: without a supervisor it stays down."]
  ),
  "gw-inference": words(
    "Gateway inference",
    "Send chat, messages, responses, embeddings, images, audio, video, rerank, moderation, search, files and batches through the gateway with one address and one key.",
    [
      "Use `<gateway>/v1` as base URL with OpenAI's SDKs, `<gateway>` with Anthropic's, and `auto` as model when any will do.",
      "Each answer names who served it: `X-Gateway-Provider`, `X-Gateway-Model`, `X-Gateway-Request-Id`."
    ],
    [
      "A stream that breaks off ends with an error event, never with a normal end: treat a missing end as a failure.",
      "Repeat a request safely with the header `Idempotency-Key`."
    ]
  ),
  "cli-serve": words("gateway serve", "Start the gateway, keep it running as a service, and stop it."),
  "cli-health": words(
    "gateway health",
    "Find out with the command line whether a gateway runs, is well, and what is wrong when it is not.",
    ["The commands exit with 0 when all is well, so they can be used in scripts."]
  ),
  "cli-providers": words("gateway providers", "Connect, test and manage providers with the command line."),
  "cli-keys": words("gateway keys", "Make, limit, rotate and remove API keys with the command line."),
  "cli-models": words("gateway models", "List models, give them other names and set prices with the command line."),
  "cli-chat": words(
    "gateway chat",
    "Ask a model from a shell: text, pictures, speech, transcripts, vectors and searches.",
    ["The answer alone goes to stdout, so it can be piped."]
  ),
  "cli-routing": words("gateway routing", "Make combos, see and simulate routing decisions with the command line."),
  "cli-resilience": words(
    "gateway resilience",
    "See and clear what is held back after failures, with the command line."
  ),
  "cli-compression": words(
    "gateway compression",
    "Shorten requests, keep answers and memories, with the command line."
  ),
  "cli-contexts": words(
    "gateway contexts",
    "Point the command line at a gateway on another machine and switch between several.",
    ["Every command takes `--context <name>`, `--url` and `--gateway-key`; `--local` means this machine's."]
  ),
  "cli-cost-usage": words(
    "gateway costs and usage",
    "See and limit what was used and what it cost, and look into captured requests, with the command line.",
    [
      "`gateway inspect` reads captured requests on the gateway's own machine: `tail` follows them, `conversation` and `anatomy` read one, `diff` and `cache` say why a prompt cache was lost."
    ]
  ),
  "cli-mcp": words("gateway mcp", "Start the MCP server for an agent, and see its tools and calls."),
  "cli-a2a": words("gateway a2a", "See the state of the gateway's A2A agent and its card."),
  "cli-tunnel": words(
    "gateway tunnels",
    "Open, watch and close tunnels, by which a gateway is reached from elsewhere.",
    [
      "`gateway tunnel create` prints the base address for clients alone on stdout; remarks are on stderr.",
      "Without a tunnel, forward the port with ssh: `ssh -L 20128:127.0.0.1:20128 <host>`, then `gateway login http://127.0.0.1:20128`."
    ]
  ),
  "cli-backup-sync": words("gateway backups", "Back up and restore the gateway's database with the command line."),
  "cli-policy-audit": words(
    "gateway policies and audit",
    "See who changed what, and set what must not pass, with the command line."
  ),
  "cli-batches": words("gateway batches", "Upload files and run many requests as one batch, with the command line."),
  "cli-eval": words("gateway evals", "Put known questions to models and compare how they do, with the command line."),
  "cli-plugins-skills": words(
    "gateway plugins and skills",
    "Write, check, install and switch plugins, and list, show and write these skill files, with the command line."
  ),
  "cli-setup": words(
    "gateway setup",
    "Set a gateway up, configure coding tools to use it, start them with nothing written or capture what they send, and keep its configuration in a file.",
    [],
    [
      "`gateway capture` changes the machine where it has to: the hosts file, the trust store, the desktop's proxy setting. `gateway capture restore` takes all of it back."
    ]
  )
}
