/** Logins of people at the command line, allowed in a browser (docs/sso.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, ForbiddenAnswer, NotFoundAnswer, TooManyRequestsAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import { Name, optional } from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"
import { userRoles } from "../users/entity.ts"
import { loginWays, maxMachineChars } from "./entity.ts"

const exampleCode = "BCDF-GHJK"
const exampleSecret = "Zr8c0fJ7t2n5v1k4x9q3m6w0y8b2d5g7h1j4l7p0s3u"
const exampleVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
const Secret = Schema.Redacted(Schema.String.pipe(Schema.maxLength(200)).annotations({ examples: [exampleSecret] }))
const Unreserved = (least: number) =>
  Schema.String.pipe(Schema.pattern(/^[\w.~-]+$/), Schema.length({ min: least, max: 128 }))

const Way = Schema.Literal(...loginWays)

export const BeginLogin = Schema.Struct({
  way: field(
    Way,
    "`browser`: the browser comes back to the machine that asks, with a code; `device`: the person types a code.",
    "device"
  ),
  machine: field(
    Name.pipe(Schema.maxLength(maxMachineChars)),
    "Name of the machine that asks, which the person is shown.",
    "laptop"
  ),
  back: field(
    optional(
      Schema.Struct({
        port: field(
          Schema.Int.pipe(Schema.between(1_024, 65_535)),
          "Port of `127.0.0.1` on which the machine waits for the browser.",
          49_152
        ),
        challenge: field(
          Schema.String.pipe(Schema.pattern(/^[\w-]{43}$/)),
          "SHA-256 of the verifier, base64url (RFC 7636, `S256`).",
          "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        ),
        state: field(Unreserved(22), "What the browser brings back as it is.", exampleVerifier)
      })
    ),
    "Where the browser comes back to; of the way `browser`, and only of that."
  )
})
  .pipe(
    Schema.filter(({ back = null, way }) =>
      (way === "browser") === (back !== null)
        ? true
        : { path: ["back"], message: way === "browser" ? "is missing" : "is of the way 'browser' only" }
    )
  )
  .annotations({ identifier: "BeginLogin" })

const BegunLogin = Schema.Struct({
  secret: field(Schema.String, "What the machine asks for its credential with; it is shown to nobody.", exampleSecret),
  code: field(
    Schema.String,
    "What the person's page asks with: typed by the person, or of the way `browser` behind `#request=` in the address of the page.",
    exampleCode
  ),
  expiresAt: field(Schema.String, "When it ends, ISO 8601.", exampleTime),
  intervalMs: field(Schema.Number, "Shortest time between two questions, milliseconds.", 5_000)
}).annotations({ identifier: "BegunLogin" })

export type BegunLogin = typeof BegunLogin.Type

const AskLogin = Schema.Struct({
  secret: field(Secret, "The secret of `POST /api/logins`."),
  proof: field(
    optional(
      Schema.Struct({
        code: field(
          Schema.String.pipe(Schema.maxLength(200)),
          "The code that the browser has brought back.",
          exampleSecret
        ),
        verifier: field(Unreserved(43), "The verifier of the challenge.", exampleVerifier)
      })
    ),
    "What shows that the browser came back to this machine; of the way `browser` only."
  )
}).annotations({ identifier: "AskLogin" })

const AskedLogin = Schema.Struct({
  status: field(
    Schema.Literal("pending", "slow_down", "denied", "expired", "mismatch", "logged_in"),
    "`pending`: nobody has answered yet; `slow_down`: that, and the question came too early; `denied`, `expired`; `mismatch`: what the browser has brought back is of another login; `logged_in`: the credential is here.",
    "logged_in"
  ),
  intervalMs: field(
    Schema.NullOr(Schema.Number),
    "Shortest time until the next question, milliseconds; null: there is none.",
    null
  ),
  login: field(
    Schema.NullOr(
      Schema.Struct({
        token: field(Schema.String, "The credential, sent as `Authorization: Bearer`. It is shown once.", "gws_4f1c2a"),
        expiresAt: field(Schema.String, "When it ends at the latest, ISO 8601.", exampleTime),
        person: field(
          Schema.Struct({
            id: field(Schema.String, "Id of the person.", exampleId),
            name: field(Schema.String, "Name of the person.", "Ada"),
            email: field(Schema.String, "Address of the person.", "ada@example.com"),
            role: field(Schema.Literal(...userRoles), "Role of the person.", "member")
          }),
          "The person who has allowed it."
        )
      })
    ),
    "The credential of the person; null: there is none."
  )
}).annotations({ identifier: "AskedLogin" })

export type AskedLogin = typeof AskedLogin.Type

const Code = field(
  Schema.String.pipe(Schema.minLength(1), Schema.maxLength(100)),
  "The code of the login, in any case, with or without its dash.",
  exampleCode
)

const LookAtLogin = Schema.Struct({ code: Code }).annotations({ identifier: "LookAtLogin" })

const WaitingLogin = Schema.Struct({
  way: field(Way, "How the credential gets to the machine.", "device"),
  machine: field(Schema.String, "Name that the machine gives itself; anybody can give one.", "laptop"),
  address: field(
    Schema.String,
    "Address that asked, as the gateway saw it; behind a proxy the proxy's, `tunnel` behind a tunnel; empty: not known.",
    "192.0.2.7"
  ),
  requestedAt: field(Schema.String, "When it asked, ISO 8601.", exampleTime),
  expiresAt: field(Schema.String, "When it ends, ISO 8601.", exampleTime)
}).annotations({ identifier: "WaitingLogin" })

const AnswerLogin = Schema.Struct({
  code: Code,
  allow: field(Schema.Boolean, "Whether the machine may act as the person.", true)
}).annotations({ identifier: "AnswerLogin" })

const AnsweredLogin = Schema.Struct({
  redirect: field(
    Schema.NullOr(Schema.String),
    "Address of the person's own machine that the browser goes on to; null: it stays, and the command line goes on by itself.",
    null
  )
}).annotations({ identifier: "AnsweredLogin" })

const at = endpointsOf("logins")

export class Logins extends HttpApiGroup.make("logins")
  .annotate(OpenApi.Title, "Logins at the command line")
  .annotate(
    OpenApi.Description,
    "A machine asks, a person allows it on a page of the dashboard, and the machine gets a credential of the person, once."
  )
  .add(
    at("begin", {
      summary: "Ask for a login of a person",
      description:
        "Begins a login that a person allows on the page `/dashboard/login` within ten minutes. 409 where no directory signs people in.",
      example: { way: "device", machine: "laptop" }
    })
      .setPayload(BeginLogin)
      .addSuccess(BegunLogin)
      .addError(ConflictAnswer)
      .addError(TooManyRequestsAnswer)
  )
  .add(
    at("token", {
      summary: "Ask whether a login is allowed",
      description:
        "Answers the credential, once. Asked again before `intervalMs` are over, the interval becomes longer. What is over and what never was are both `expired`.",
      example: { secret: exampleSecret }
    })
      .setPayload(AskLogin)
      .addSuccess(AskedLogin)
      .addError(TooManyRequestsAnswer)
  )
  .add(
    at("look", {
      summary: "Show which machine asks for a login",
      description:
        "For the page that a person confirms on: only the session that was shown what asks may answer. Each code that is tried counts; after several the person has to wait (429)."
    })
      .setPayload(LookAtLogin)
      .addSuccess(WaitingLogin)
      .addError(ForbiddenAnswer)
      .addError(NotFoundAnswer)
      .addError(TooManyRequestsAnswer)
  )
  .add(
    at("answer", {
      summary: "Allow a login, or refuse it",
      description: "For a person in the browser who was shown what asks; the login becomes one of this person."
    })
      .setPayload(AnswerLogin)
      .addSuccess(AnsweredLogin)
      .addError(ForbiddenAnswer)
      .addError(NotFoundAnswer)
      .addError(TooManyRequestsAnswer)
  ) {}
