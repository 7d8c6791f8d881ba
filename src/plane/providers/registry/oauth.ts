/**
 * Providers that are used with a signed-in account: the connection brings its tokens (`authType: "oauth"`), and the gateway renews them.
 * No client id is here: tokens are renewed for the client they were given to, which the connection names (`oauth.clientId`); `signIn.ts`
 * has where accounts sign in. Left out are those that speak none of the wires (Kiro's event stream, Cursor's protobuf, Antigravity's
 * wrapped Gemini).
 */
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { anthropicTokens, chatIn, githubTokens, messagesIn, openAiTokens, session } from "./build.ts"

const chat = chatIn("oauth")
const messages = messagesIn("oauth")

export const oauth: ReadonlyArray<ProviderSpec> = [
  messages("claude", "Claude subscription", "https://api.anthropic.com/v1", {
    aliases: ["cc"],
    class: "oauth",
    auth: session,
    paths: { messages: "/messages?beta=true" },
    modelsPath: null,
    models: ["claude-sonnet-4-6", "claude-haiku-4-5", "claude-opus-4-8"],
    oauth: anthropicTokens,
    docsUrl: "https://docs.claude.com/en/docs/claude-code"
  }),
  chat("codex", "ChatGPT subscription (Codex)", "https://chatgpt.com/backend-api/codex", {
    aliases: ["cx"],
    class: "oauth",
    auth: session,
    wires: ["responses"],
    modelsPath: null,
    models: ["gpt-5.4", "gpt-5.4-mini"],
    oauth: openAiTokens,
    docsUrl: "https://developers.openai.com/codex"
  }),
  chat("github", "GitHub Copilot", "https://api.githubcopilot.com", {
    aliases: ["gh"],
    class: "oauth",
    auth: session,
    wires: ["chat", "responses"],
    oauth: githubTokens,
    docsUrl: "https://docs.github.com/copilot"
  })
]
