/** The coding agents that are driven: which package, how they are started headless, and which of their own tools read and change a file. */
import { join } from "node:path"
import type { WireName } from "../../src/contract/domain/Wire.ts"

export interface Package {
  readonly name: string
  /** Exact. */
  readonly version: string
  /** The command it installs. */
  readonly command: string
  /** Where the program is in the package, when npm makes no command of it. */
  readonly file?: string
}

/** What a run is given. */
export interface Setting {
  /** Address of the gateway, without a path. */
  readonly root: string
  readonly apiKey: string
  readonly model: string
  /** An empty folder that is the agent's home. */
  readonly home: string
  readonly prompt: string
  /** Whether the agent tries again by itself, as often as it does by default; else never. */
  readonly retries: boolean
}

export interface Launch {
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  /** Files to write first, by their path inside the home folder. */
  readonly files?: Readonly<Record<string, string>>
}

export interface ToolUse {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

export interface Agent {
  readonly name: string
  readonly package: Package
  /** The wire it speaks to the gateway. */
  readonly wire: WireName
  readonly launch: (setting: Setting) => Launch
  /** How the scripted model has it read a file. */
  readonly read: (file: string) => ToolUse
  /** How the scripted model has it replace one text in a file by another. */
  readonly edit: (file: string, from: string, to: string) => ToolUse
  /** The turns must have gone over a WebSocket. */
  readonly webSocket?: true
  /** How the requests of its turns must have been compressed. */
  readonly compression?: "zstd"
}

const claudeCode: Package = { name: "@anthropic-ai/claude-code", version: "2.1.197", command: "claude" }
const codexCli: Package = { name: "@openai/codex", version: "0.169.0", command: "codex" }
const geminiCli: Package = { name: "@google/gemini-cli", version: "0.61.0", command: "gemini" }
const qwenCode: Package = { name: "@qwen-code/qwen-code", version: "0.15.10", command: "qwen" }
const openCode: Package = { name: "opencode-ai", version: "1.18.33", command: "opencode" }

const claude: Agent = {
  name: "claude",
  package: claudeCode,
  wire: "messages",
  launch: ({ apiKey, model, prompt, retries, root }) => ({
    args: ["-p", prompt, "--output-format", "json", "--model", model, "--dangerously-skip-permissions"],
    env: {
      ANTHROPIC_BASE_URL: root,
      ANTHROPIC_AUTH_TOKEN: apiKey,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      ...(retries ? {} : { CLAUDE_CODE_MAX_RETRIES: "0" }),
      // Lets root, as in a container, skip the questions.
      IS_SANDBOX: "1"
    }
  }),
  read: (file) => ({ tool: "Read", args: { file_path: file } }),
  edit: (file, from, to) => ({ tool: "Edit", args: { file_path: file, old_string: from, new_string: to } })
}

const codexConfig = ({ model, retries, root }: Setting, webSocket: boolean): string =>
  [
    `model = ${JSON.stringify(model)}`,
    'model_provider = "gateway"',
    'approval_policy = "never"',
    'sandbox_mode = "danger-full-access"',
    "check_for_update_on_startup = false",
    "[analytics]",
    "enabled = false",
    "[otel]",
    'exporter = "none"',
    "[model_providers.gateway]",
    'name = "gateway"',
    `base_url = ${JSON.stringify(`${root}/v1`)}`,
    'env_key = "GATEWAY_KEY"',
    'wire_api = "responses"',
    ...(retries ? [] : ["request_max_retries = 0", "stream_max_retries = 0"]),
    `supports_websockets = ${webSocket}`
  ].join("\n")

const codex = (webSocket: boolean): Agent => ({
  name: webSocket ? "codex-ws" : "codex",
  package: codexCli,
  wire: "responses",
  launch: (setting) => ({
    args: ["exec", "--skip-git-repo-check", "--json", setting.prompt],
    env: { CODEX_HOME: join(setting.home, "codex"), GATEWAY_KEY: setting.apiKey },
    files: { "codex/config.toml": codexConfig(setting, webSocket) }
  }),
  read: (file) => ({ tool: "exec_command", args: { cmd: `cat '${file}'` } }),
  edit: (file, from, to) => ({ tool: "exec_command", args: { cmd: `sed -i 's/${from}/${to}/' '${file}'` } }),
  ...(webSocket ? { webSocket } : {})
})

/** An unsigned token: Codex reads who has signed in, and lets its provider check it. */
const identityToken = (nowMs: number): string => {
  const issuedAt = Math.floor(nowMs / 1_000)
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")
  const account = { chatgpt_plan_type: "plus", chatgpt_user_id: "user-invented", chatgpt_account_id: accountId }
  const claims = {
    email: "someone@example.com",
    iat: issuedAt,
    exp: issuedAt + 30 * 86_400,
    "https://api.openai.com/auth": account
  }
  return `${part({ alg: "none" })}.${part(claims)}.${Buffer.from("invented").toString("base64url")}`
}
const accountId = "account-invented"

/**
 * Codex as somebody uses it who has signed in with an account, with nothing changed but the address of its provider: it compresses its requests then
 * (zstd), and sends the account's access token. Here that is the gateway's key, and the rest of the sign-in is invented.
 */
const signedInConfig = ({ model, retries, root }: Setting): string =>
  [
    `model = ${JSON.stringify(model)}`,
    'model_provider = "gateway"',
    // The account's own pages: nobody is asked there.
    'chatgpt_base_url = "http://127.0.0.1:9/backend-api/"',
    'approval_policy = "never"',
    'sandbox_mode = "danger-full-access"',
    "check_for_update_on_startup = false",
    "[analytics]",
    "enabled = false",
    "[otel]",
    'exporter = "none"',
    "[model_providers.gateway]",
    // Codex compresses for the provider of this name alone.
    'name = "OpenAI"',
    `base_url = ${JSON.stringify(`${root}/v1`)}`,
    "requires_openai_auth = true",
    'wire_api = "responses"',
    ...(retries ? [] : ["request_max_retries = 0", "stream_max_retries = 0"]),
    "supports_websockets = false"
  ].join("\n")

const codexSignedIn: Agent = {
  ...codex(false),
  name: "codex-account",
  compression: "zstd",
  launch: (setting) => ({
    args: ["exec", "--skip-git-repo-check", "--json", setting.prompt],
    env: { CODEX_HOME: join(setting.home, "codex") },
    files: {
      "codex/config.toml": signedInConfig(setting),
      "codex/auth.json": JSON.stringify({
        auth_mode: "chatgpt",
        OPENAI_API_KEY: null,
        tokens: {
          id_token: identityToken(Date.now()),
          access_token: setting.apiKey,
          refresh_token: "refresh-invented",
          account_id: accountId
        },
        last_refresh: new Date().toISOString()
      })
    }
  })
}

const gemini: Agent = {
  name: "gemini",
  package: geminiCli,
  wire: "gemini",
  launch: ({ apiKey, model, prompt, root }) => ({
    args: ["-p", prompt, "--skip-trust", "--yolo", "-m", model, "-o", "json"],
    env: {
      GEMINI_API_KEY: apiKey,
      GOOGLE_GEMINI_BASE_URL: root,
      GEMINI_TELEMETRY_ENABLED: "false",
      GEMINI_CLI_NO_RELAUNCH: "true"
    },
    files: {
      ".gemini/settings.json": JSON.stringify({
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        security: { auth: { selectedType: "gemini-api-key" } }
      })
    }
  }),
  read: (file) => ({ tool: "read_file", args: { file_path: file } }),
  edit: (file, from, to) => ({
    tool: "replace",
    args: { file_path: file, old_string: from, new_string: to, instruction: "Change the colour." }
  })
}

/** What Qwen Code calls the wires, and where it wants to be told the address. */
const qwenModes = {
  chat: { type: "openai", prefix: "OPENAI", address: "OPENAI_BASE_URL", path: "/v1" },
  messages: { type: "anthropic", prefix: "ANTHROPIC", address: "ANTHROPIC_BASE_URL", path: "" },
  gemini: { type: "gemini", prefix: "GEMINI", address: "GOOGLE_GEMINI_BASE_URL", path: "" }
} as const

const qwen = (wire: keyof typeof qwenModes): Agent => {
  const { address, path, prefix, type } = qwenModes[wire]
  return {
    name: wire === "chat" ? "qwen" : `qwen-${wire}`,
    package: qwenCode,
    wire,
    launch: ({ apiKey, model, prompt, root }) => ({
      args: ["-p", prompt, "--auth-type", type, "--yolo", "-o", "json"],
      env: { [`${prefix}_API_KEY`]: apiKey, [address]: root + path, [`${prefix}_MODEL`]: model },
      files: {
        ".qwen/settings.json": JSON.stringify({
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
          general: { disableAutoUpdate: true }
        })
      }
    }),
    read: (file) => ({ tool: "read_file", args: { file_path: file } }),
    edit: (file, from, to) => ({ tool: "edit", args: { file_path: file, old_string: from, new_string: to } })
  }
}

const openCodeModes = {
  chat: { npm: "@ai-sdk/openai-compatible", path: "/v1" },
  responses: { npm: "@ai-sdk/openai", path: "/v1" },
  messages: { npm: "@ai-sdk/anthropic", path: "/v1" },
  gemini: { npm: "@ai-sdk/google", path: "/v1beta" }
} as const

const opencode = (wire: keyof typeof openCodeModes): Agent => {
  const { npm, path } = openCodeModes[wire]
  return {
    name: wire === "chat" ? "opencode" : `opencode-${wire}`,
    package: openCode,
    wire,
    launch: ({ apiKey, model, prompt, root }) => ({
      args: ["run", "--format", "json", "-m", `gateway/${model}`, prompt],
      env: {
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1"
      },
      files: {
        ".config/opencode/opencode.json": JSON.stringify({
          autoupdate: false,
          share: "disabled",
          permission: { "*": "allow" },
          provider: {
            gateway: {
              npm,
              name: "gateway",
              options: { baseURL: root + path, apiKey },
              models: {
                [model]: {
                  name: "scripted",
                  tool_call: true,
                  reasoning: true,
                  limit: { context: 128_000, output: 8000 }
                }
              }
            }
          }
        })
      }
    }),
    read: (file) => ({ tool: "read", args: { filePath: file } }),
    edit: (file, from, to) => ({ tool: "edit", args: { filePath: file, oldString: from, newString: to } })
  }
}

export const agents: ReadonlyArray<Agent> = [
  claude,
  codex(false),
  codex(true),
  codexSignedIn,
  gemini,
  opencode("chat"),
  opencode("responses"),
  opencode("messages"),
  opencode("gemini"),
  qwen("chat"),
  qwen("messages"),
  qwen("gemini")
]
