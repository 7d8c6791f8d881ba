/**
 * Commands that start coding tools with a gateway and without writing files: a command, arguments and variables. Pure.
 */
import type { Gateway } from "./config/ToolSetup.ts"

export interface Launch {
  readonly command: string
  /** Arguments before those of the user. */
  readonly args: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
}

export interface LaunchOptions extends Pick<Gateway, "origin" | "apiKey"> {
  /** Null: what the tool uses by itself. */
  readonly model: string | null
  /** A file of settings of Claude Code, or a profile of Codex; null: none. */
  readonly profile: string | null
}

export interface Launcher {
  readonly id: string
  readonly name: string
  /** npm's name of the package, where there is one, for the hint when it is missing. */
  readonly install: string
  readonly launch: (options: LaunchOptions) => Launch
}

const given = (name: string, value: string | null): Readonly<Record<string, string>> =>
  value === null ? {} : { [name]: value }

const flag = (name: string, value: string | null): ReadonlyArray<string> => (value === null ? [] : [name, value])

export const launchers: ReadonlyArray<Launcher> = [
  {
    id: "claude",
    name: "Claude Code",
    install: "npm install -g @anthropic-ai/claude-code",
    launch: ({ apiKey, model, origin, profile }) => ({
      command: "claude",
      args: flag("--settings", profile),
      environment: {
        ANTHROPIC_BASE_URL: origin,
        ANTHROPIC_AUTH_TOKEN: apiKey,
        ...given("ANTHROPIC_MODEL", model),
        ...given("ANTHROPIC_DEFAULT_OPUS_MODEL", model),
        ...given("ANTHROPIC_DEFAULT_SONNET_MODEL", model),
        ...given("ANTHROPIC_DEFAULT_HAIKU_MODEL", model)
      }
    })
  },
  {
    id: "codex",
    name: "Codex CLI",
    install: "npm install -g @openai/codex",
    launch: ({ apiKey, model, origin, profile }) => ({
      command: "codex",
      args: [
        "-c",
        'model_provider="gateway"',
        "-c",
        `model_providers.gateway={name="Gateway",base_url=${JSON.stringify(`${origin}/v1`)},wire_api="responses",env_key="GATEWAY_TOOL_KEY"}`,
        ...(model === null ? [] : ["-c", `model=${JSON.stringify(model)}`]),
        ...flag("--profile", profile)
      ],
      // The arguments of a program can be seen by other users, its variables cannot.
      environment: { GATEWAY_TOOL_KEY: apiKey }
    })
  },
  {
    id: "opencode",
    name: "opencode",
    install: "npm install -g opencode-ai",
    launch: ({ apiKey, model, origin }) => ({
      command: "opencode",
      args: [],
      environment: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          provider: {
            gateway: {
              npm: "@ai-sdk/openai-compatible",
              name: "Gateway",
              options: { baseURL: `${origin}/v1`, apiKey },
              models: { [model ?? "auto"]: { name: model ?? "auto", tool_call: true } }
            }
          },
          model: `gateway/${model ?? "auto"}`
        })
      }
    })
  },
  {
    id: "qwen",
    name: "Qwen Code",
    install: "npm install -g @qwen-code/qwen-code",
    launch: ({ apiKey, model, origin }) => ({
      command: "qwen",
      args: ["--auth-type", "openai"],
      environment: { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: `${origin}/v1`, OPENAI_MODEL: model ?? "auto" }
    })
  },
  {
    id: "aider",
    name: "aider",
    install: "pipx install aider-chat",
    launch: ({ apiKey, model, origin }) => ({
      command: "aider",
      args: ["--model", `openai/${model ?? "auto"}`],
      environment: { OPENAI_API_KEY: apiKey, OPENAI_API_BASE: `${origin}/v1` }
    })
  },
  {
    id: "goose",
    name: "goose",
    install: "https://block.github.io/goose/docs/getting-started/installation",
    launch: ({ apiKey, model, origin }) => ({
      command: "goose",
      args: [],
      environment: {
        GOOSE_PROVIDER: "openai",
        GOOSE_MODEL: model ?? "auto",
        OPENAI_HOST: origin,
        OPENAI_BASE_PATH: "v1/chat/completions",
        OPENAI_API_KEY: apiKey
      }
    })
  }
]
