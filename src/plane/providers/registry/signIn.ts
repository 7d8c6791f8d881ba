/**
 * Endpoints where accounts sign in (RFC 6749 §4.1 with RFC 7636, RFC 8628), as data. No client id is listed: each belongs to one program,
 * and its owner's terms say who may use it. The operator names the client that may act for the account.
 */
import * as Context from "effect/Context"
import type { OAuthEndpoint } from "../../../contract/domain/Provider.ts"

export interface SignInRow {
  /** Endpoint where a code is exchanged for tokens. */
  readonly tokens: Pick<OAuthEndpoint, "tokenUrl" | "style">
  readonly scopes: ReadonlyArray<string>
  /** Sign-in in a browser; null: the provider has none. */
  readonly authorize: {
    readonly url: string
    /**
     * Redirect address where no public address of the gateway is known. The page there shows the code, or its address
     * holds it: nothing listens on it here.
     */
    readonly redirectUri: string
    readonly parameters: Readonly<Record<string, string>>
    /** Parameters for the provider's own page at the end only. */
    readonly pageParameters?: Readonly<Record<string, string>>
    /** The exchange repeats the state. */
    readonly sendsState: boolean
  } | null
  /** Address that gives out codes for another device; null: there is none. */
  readonly deviceUrl: string | null
}

const github: SignInRow = {
  // https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps#device-flow
  tokens: { tokenUrl: "https://github.com/login/oauth/access_token", style: "form" },
  scopes: ["read:user"],
  authorize: null,
  deviceUrl: "https://github.com/login/device/code"
}

export const signInRows: ReadonlyMap<string, SignInRow> = new Map([
  [
    "claude",
    {
      tokens: { tokenUrl: "https://console.anthropic.com/v1/oauth/token", style: "json" },
      scopes: ["user:profile", "user:inference"],
      authorize: {
        url: "https://claude.ai/oauth/authorize",
        redirectUri: "https://console.anthropic.com/oauth/code/callback",
        parameters: {},
        pageParameters: { code: "true" },
        sendsState: true
      },
      deviceUrl: null
    }
  ],
  [
    "codex",
    {
      // https://github.com/openai/codex/blob/main/codex-rs/login/src/server.rs
      tokens: { tokenUrl: "https://auth.openai.com/oauth/token", style: "form" },
      scopes: ["openid", "profile", "email", "offline_access"],
      authorize: {
        url: "https://auth.openai.com/oauth/authorize",
        redirectUri: "http://localhost:1455/auth/callback",
        parameters: { id_token_add_organizations: "true" },
        sendsState: false
      },
      deviceUrl: null
    }
  ],
  ["github", github],
  ["github-models", github],
  [
    "gemini",
    {
      // https://developers.google.com/identity/protocols/oauth2/native-app, https://ai.google.dev/gemini-api/docs/oauth
      tokens: { tokenUrl: "https://oauth2.googleapis.com/token", style: "form" },
      scopes: [
        "https://www.googleapis.com/auth/cloud-platform",
        "https://www.googleapis.com/auth/generative-language.retriever"
      ],
      authorize: {
        url: "https://accounts.google.com/o/oauth2/v2/auth",
        redirectUri: "http://127.0.0.1:20130/callback",
        parameters: { access_type: "offline", prompt: "consent" },
        sendsState: false
      },
      deviceUrl: null
    }
  ]
] satisfies ReadonlyArray<readonly [string, SignInRow]>)

/** Names how accounts of a provider sign in: by a code that is typed in at another device, or in a browser; null: they do not. */
export const signInOf = (provider: string): "device" | "browser" | null => {
  const row = signInRows.get(provider)
  if (row === undefined) return null
  return row.deviceUrl === null ? "browser" : "device"
}

/** Sentences on where to register a client of one's own. */
const clientWords: ReadonlyMap<string, string> = new Map([
  [
    "claude",
    "Anthropic registers no OAuth clients of its users by a page: ask it for one. A key needs none: https://console.anthropic.com/settings/keys."
  ],
  [
    "codex",
    "OpenAI registers no OAuth clients of its users for ChatGPT plans by a page: ask it for one. A key needs none: https://platform.openai.com/api-keys."
  ],
  ["github", "Register an OAuth app with 'Enable Device Flow' at https://github.com/settings/developers."],
  ["github-models", "Register an OAuth app with 'Enable Device Flow' at https://github.com/settings/developers."],
  [
    "gemini",
    "Create an OAuth client id at https://console.cloud.google.com/apis/credentials: of type 'Web application' with the redirect address of the sign-in."
  ]
])

/** Describes where to get a client of one's own at a provider; empty: not known. */
export const whereClientIs = (provider: string): string => clientWords.get(provider) ?? ""

/** The rows in force. Only a layer can replace them: no caller chooses the host that receives a code. */
export class SignInTable extends Context.Reference<SignInTable>()("gateway/plane/providers/registry/SignInTable", {
  defaultValue: () => signInRows
}) {}
