/** How the agents of this folder are started: as a person does who followed the set-up of the bridge, with nothing that leads them to the gateway. */
import { type Agent, agents } from "../Agents.ts"

export interface Bridged {
  /** As the bridge knows it. */
  readonly id: string
  readonly agent: Agent
  /** What it asks for, and what is mapped. */
  readonly model: string
  /** Upstreams that answer in place of the vendor: one of the agent's own wire, and another. */
  readonly upstreams: ReadonlyArray<string>
  /** It was told to trust nothing: the system does. */
  readonly needsSystemTrust?: true
}

/** What the programs are to trust, as files of PEM. */
export interface Trusted {
  /** The gateway's authority: the one step of the set-up that concerns the program. */
  readonly gateway: string
  /** That of the faked internet as well. */
  readonly both: string
}

const known = (name: string): Agent => {
  const found = agents.find((agent) => agent.name === name)
  if (found === undefined) throw new Error(`There is no agent ${name}.`)
  return found
}

const claude = ({ gateway }: Trusted): Bridged => ({
  id: "claude-code",
  model: "claude-sonnet-4-5-20250929",
  upstreams: ["messages", "chat"],
  agent: {
    ...known("claude"),
    launch: ({ apiKey, model, prompt }) => ({
      args: ["-p", prompt, "--output-format", "json", "--model", model, "--dangerously-skip-permissions"],
      // IS_SANDBOX lets root, as in a container, skip the questions.
      env: { ANTHROPIC_API_KEY: apiKey, NODE_EXTRA_CA_CERTS: gateway, IS_SANDBOX: "1" }
    })
  }
})

const openCode = ({ gateway }: Trusted): Bridged => ({
  id: "open-code",
  model: "big-pickle",
  upstreams: ["chat", "messages"],
  agent: {
    ...known("opencode"),
    launch: ({ model, prompt }) => ({
      args: ["run", "--format", "json", "-m", `opencode/${model}`, prompt],
      env: { NODE_EXTRA_CA_CERTS: gateway }
    })
  }
})

const segment = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")

/** A token as ChatGPT's log-in issues it. Its signature is nobody's. */
const chatGptToken = (): string => {
  const auth = { chatgpt_plan_type: "plus", chatgpt_user_id: "user-faked", chatgpt_account_id: "account-faked" }
  const claims = { email: "ann@example.org", exp: 4_000_000_000, "https://api.openai.com/auth": auth }
  return `${segment({ alg: "RS256", typ: "JWT" })}.${segment(claims)}.${Buffer.from("no signature").toString("base64url")}`
}

/** Logged in with a ChatGPT plan, by a file that `codex login` would have written. */
const codex = (): Bridged => ({
  id: "codex",
  model: "gpt-5-codex",
  upstreams: ["responses", "chat"],
  needsSystemTrust: true,
  agent: {
    ...known("codex"),
    launch: ({ model, prompt }) => ({
      args: [
        "exec",
        "--skip-git-repo-check",
        "--json",
        "-m",
        model,
        "--dangerously-bypass-approvals-and-sandbox",
        prompt
      ],
      env: {},
      files: {
        // Node 20 cannot read zstd.
        ".codex/config.toml": "[features]\nenable_request_compression = false\n",
        ".codex/auth.json": JSON.stringify({
          OPENAI_API_KEY: null,
          tokens: {
            id_token: chatGptToken(),
            access_token: chatGptToken(),
            refresh_token: "faked",
            account_id: "account-faked"
          },
          last_refresh: new Date().toISOString()
        })
      }
    })
  }
})

/** Not one of the nine, but the program at hand that calls Antigravity's host in its wrapper: logged in with Google, by files of its own. */
const gemini = ({ both }: Trusted): Bridged => ({
  id: "antigravity",
  model: "gemini-2.5-flash",
  upstreams: ["gemini", "chat"],
  agent: {
    ...known("gemini"),
    launch: ({ model, prompt }) => ({
      args: ["-p", prompt, "--skip-trust", "--yolo", "-m", model, "-o", "json"],
      // Its log-in asks hosts that are no agent's, which are here, too.
      env: { NODE_EXTRA_CA_CERTS: both, GEMINI_CLI_NO_RELAUNCH: "true", GEMINI_FORCE_FILE_STORAGE: "true" },
      files: {
        ".gemini/settings.json": JSON.stringify({ security: { auth: { selectedType: "oauth-personal" } } }),
        ".gemini/oauth_creds.json": JSON.stringify({
          access_token: "ya29.faked-access-token",
          refresh_token: "1//faked-refresh-token",
          scope: "https://www.googleapis.com/auth/cloud-platform",
          token_type: "Bearer",
          expiry_date: 4_000_000_000_000
        }),
        ".gemini/google_accounts.json": JSON.stringify({ active: "ann@example.org", old: [] })
      }
    })
  }
})

export const bridged = (trusted: Trusted): ReadonlyArray<Bridged> => [
  claude(trusted),
  openCode(trusted),
  codex(),
  gemini(trusted)
]
