/** Signing in at providers. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { exactOptional, field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, ForbiddenAnswer, NotFoundAnswer, UpstreamFailedAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleProxyId, exampleTime } from "../../contract/Examples.ts"
import { body, IsoTime, optional, Secret } from "../../contract/Inputs.ts"

const Word = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(300))

export const signInActions = ["authorize", "device-code", "exchange", "poll", "import-token", "cancel"] as const
export type SignInAction = (typeof signInActions)[number]

export const SignInInput = Schema.NullOr(
  Schema.Struct({
    clientId: field(
      optional(Word),
      "To begin: the OAuth client that acts for you; absent: `GATEWAY_OAUTH_<PROVIDER>_CLIENT_ID`.",
      "my-client"
    ),
    clientSecret: field(optional(Secret), "To begin: its secret, where it has one."),
    name: field(optional(Word), "To begin, and with tokens: the name of the connection.", "work"),
    proxyId: field(
      optional(Word),
      "To begin, and with tokens: the proxy of the connection; the sign-in goes by it too.",
      exampleProxyId
    ),
    connectionId: field(
      optional(Word),
      "To begin, and with tokens: the connection that is signed in again; absent: a new one is made.",
      exampleId
    ),
    sessionId: field(optional(Word), "To go on: what the beginning answered.", exampleId),
    state: field(optional(Word), "Of `exchange`: the state, where `code` does not hold it.", "hYb3x1"),
    code: field(
      optional(Schema.Redacted(Schema.String.pipe(Schema.maxLength(8192)).annotations({ examples: ["code#state"] }))),
      "Of `exchange`: the whole address of the page, `code#state`, or the code."
    ),
    accessToken: field(optional(Secret), "Of `import-token`: the access token."),
    refreshToken: field(optional(Secret), "Of `import-token`: the token it is renewed with."),
    expiresAt: field(optional(IsoTime), "Of `import-token`: when the access token expires, ISO 8601.", exampleTime)
  }).annotations(body("SignInInput"))
)
export type SignInInput = typeof SignInInput.Type

export const SignInAnswer = Schema.Struct({
  status: field(Schema.Literal("pending", "connected", "cancelled"), "How far the sign-in is."),
  sessionId: field(exactOptional(Schema.String), "Names the sign-in in the next request; used once.", exampleId),
  authUrl: field(
    exactOptional(Schema.String),
    "The address to open in a browser.",
    "https://auth.example.com/authorize?…"
  ),
  state: field(exactOptional(Schema.String), "The state in it.", "hYb3x1"),
  redirectUri: field(
    exactOptional(Schema.String),
    "Where the browser ends up; its address holds the code.",
    "http://localhost:1455/auth/callback"
  ),
  comesBack: field(
    exactOptional(Schema.Boolean),
    "Whether the browser brings the code to the gateway by itself (`NEXT_PUBLIC_BASE_URL`): then `poll` instead of `exchange`.",
    false
  ),
  userCode: field(exactOptional(Schema.String), "The code to type at `verificationUri`.", "WDJB-MJHT"),
  verificationUri: field(exactOptional(Schema.String), "Where to type it.", "https://github.com/login/device"),
  verificationUriComplete: field(
    exactOptional(Schema.String),
    "The same with the code in it.",
    "https://example.com/d?c=1"
  ),
  retryAfterMs: field(exactOptional(Schema.Number), "Milliseconds before the next `poll`.", 5_000),
  expiresAt: field(exactOptional(Schema.String), "When the sign-in ends without a result, ISO 8601.", exampleTime),
  connection: field(
    exactOptional(
      Schema.Struct({
        id: field(Schema.String, "Id of the connection.", exampleId),
        provider: field(Schema.String, "Its provider.", "codex"),
        name: field(Schema.String, "Its name.", "work")
      }).annotations({ identifier: "SignedInConnection" })
    ),
    "The connection that was made."
  )
}).annotations({ identifier: "SignInAnswer" })
export type SignInAnswer = typeof SignInAnswer.Type

const page = (description: string, title: string) =>
  HttpApiSchema.Text({ contentType: "text/html" }).annotations({
    description,
    examples: [`<!doctype html><title>${title}</title>`]
  })

const notSignedIn = "The sign-in failed"

const at = endpointsOf("oauth", {
  provider: ["Id of the provider: claude, codex, github, github-models, gemini.", "codex"],
  action: ["`authorize`, `device-code`, `exchange`, `poll`, `import-token`, or `cancel`.", "authorize"]
})

export class OAuth extends HttpApiGroup.make("oauth")
  .annotate(OpenApi.Title, "Sign-in at providers")
  .annotate(OpenApi.Description, "From an account at a provider to a connection (docs/sign-in.md).")
  .add(
    at("act", {
      summary: "Sign in at a provider, step by step",
      description:
        "`authorize` gives an address to open and `exchange` takes the code from there, or `poll` asks whether the browser has brought it (`comesBack`); `device-code` gives a code to type elsewhere and `poll` asks whether that was done; `import-token` takes tokens from elsewhere; `cancel` ends one. What is pending lasts ten minutes.",
      example: { clientId: "my-client", name: "work" }
    })
      .setPayload(SignInInput)
      .addSuccess(SignInAnswer)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(ForbiddenAnswer)
      .addError(UpstreamFailedAnswer)
  )
  .add(
    at("callback", {
      summary: "Come back from a provider",
      description:
        "Where a browser is sent after a sign-in, with the provider's `code` and the `state` of the sign-in, which is used once. Shows a page; needs no key: the state says whose sign-in it is. Errors are pages too."
    })
      .addSuccess(page("The connection is made.", "Signed in"))
      .addSuccess(page("No code came with the state.", notSignedIn), { status: 400 })
      .addSuccess(page("No sign-in waits for this state.", notSignedIn), { status: 404 })
      .addSuccess(page("The provider has as many connections as it may have.", notSignedIn), { status: 409 })
      .addSuccess(page("Too many unknown states; see `Retry-After`.", notSignedIn), { status: 429 })
      .addSuccess(page("The provider refused.", notSignedIn), { status: 502 })
      .addSuccess(page("The connection could not be stored.", notSignedIn), { status: 503 })
  ) {}
