/** Admin sessions (docs/reference/http-api.md, "Authentication"). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { TooManyRequestsAnswer } from "../../contract/Errors.ts"
import { NoContent } from "../../contract/Inputs.ts"
import { exampleTime } from "../../contract/Examples.ts"
import { field } from "../../kernel/Documented.ts"
import { passwordProblem } from "../../kernel/secrets/SecretRules.ts"

/** The answer also sets an HttpOnly cookie; unsafe requests with it send the token as `X-CSRF-Token`. */
const LoggedIn = Schema.Struct({
  csrfToken: field(
    Schema.String,
    "Sent as `X-CSRF-Token` with every request that changes something.",
    "kQ3v0m8r1b2c3d4e5f6a7b8c9d0e1f2a"
  ),
  expiresAt: field(Schema.String, "When the session ends at the latest, ISO 8601.", exampleTime)
}).annotations({ identifier: "Login" })

const NewPassword = Schema.Struct({
  password: field(
    Schema.Redacted(
      Schema.String.annotations({ examples: ["correct horse battery staple"] }).pipe(
        Schema.filter((password) => passwordProblem(password) ?? true)
      )
    ),
    "The new admin password, 8 to 200 characters."
  )
}).annotations({ identifier: "NewPassword" })

const ChangePassword = Schema.Struct({
  currentPassword: field(
    Schema.Redacted(Schema.String.pipe(Schema.maxLength(200)).annotations({ examples: ["the one before this one"] })),
    "The admin password that holds now."
  ),
  password: NewPassword.fields.password
}).annotations({ identifier: "ChangePassword" })

const SessionState = Schema.Struct({
  authenticated: field(Schema.Boolean, "Whether the cookie names a session that is valid.", true),
  passwordSet: field(Schema.Boolean, "Whether there is an admin password to log in with.", true),
  csrfToken: field(
    Schema.NullOr(Schema.String),
    "The session's CSRF token, as the login answered it; null without a session.",
    "kQ3v0m8r1b2c3d4e5f6a7b8c9d0e1f2a"
  ),
  expiresAt: field(Schema.NullOr(Schema.String), "When the session ends at the latest, ISO 8601.", exampleTime)
}).annotations({ identifier: "SessionState" })

const at = endpointsOf("auth")

export class Auth extends HttpApiGroup.make("auth")
  .annotate(OpenApi.Title, "Sessions")
  .annotate(OpenApi.Description, "Admin sessions: a password for a cookie and a CSRF token.")
  .add(
    at("login", {
      summary: "Log in as administrator",
      description:
        "Answers the CSRF token and sets the HttpOnly cookie `gateway_session`. After several wrong passwords the caller has to wait (429)."
    })
      .setPayload(
        Schema.Struct({
          password: field(
            Schema.Redacted(
              Schema.String.pipe(Schema.maxLength(200)).annotations({ examples: ["correct horse battery staple"] })
            ),
            "The admin password (`GATEWAY_ADMIN_PASSWORD` at the first start)."
          )
        }).annotations({ identifier: "LoginRequest" })
      )
      .addSuccess(LoggedIn)
      .addError(TooManyRequestsAnswer)
  )
  .add(at("logout", { summary: "Log out", description: "Ends the session of the cookie." }).addSuccess(NoContent))
  .add(
    at("session", {
      summary: "Show whether a session is valid",
      description: "For pages that are loaded anew; 401 without a session. A page of another site is told nothing."
    }).addSuccess(SessionState)
  )
  .add(
    at("changePassword", {
      summary: "Change the admin password",
      description:
        "For a session, with the present password; wrong ones count as wrong logins do. Every other session ends."
    })
      .setPayload(ChangePassword)
      .addSuccess(NoContent)
      .addError(TooManyRequestsAnswer)
  )
  .add(
    at("setPassword", {
      summary: "Set the admin password",
      description:
        "For the owner of the data folder only, by the token that the running gateway writes there. Every session ends. The password before is not asked for: it may be forgotten."
    })
      .setPayload(NewPassword)
      .addSuccess(NoContent)
  ) {}
