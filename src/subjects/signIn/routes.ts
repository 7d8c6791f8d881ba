/** Sign-in of people by an issuer, in a browser (docs/sso.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { exampleId } from "../../contract/Examples.ts"
import { field } from "../../kernel/Documented.ts"

const Offered = Schema.Struct({
  issuers: field(
    Schema.Array(
      Schema.Struct({
        id: field(Schema.String, "Id of the issuer.", exampleId),
        name: field(Schema.String, "Name on the button.", "Company directory")
      }).annotations({ identifier: "OfferedIssuer" })
    ),
    "The enabled issuers, by name."
  )
}).annotations({ identifier: "OfferedIssuers" })

const LoggedOut = Schema.Struct({
  url: field(
    Schema.NullOr(Schema.String),
    "Address at the issuer where the browser ends its session there; null: there is none.",
    null
  )
}).annotations({ identifier: "SignedOut" })

const BeginQuery = Schema.Struct({
  login: field(
    Schema.optionalWith(
      Schema.String.pipe(Schema.pattern(/^[\w-]{0,64}$/, { message: () => "must be the code of a login" })),
      { exact: true }
    ),
    "The person came to allow a login at the command line: its code, empty where the person types it. The page of logins opens in place of the dashboard.",
    ""
  )
})

const page = (description: string, title: string) =>
  HttpApiSchema.Text({ contentType: "text/html" }).annotations({
    description,
    examples: [`<!doctype html><title>${title}</title>`]
  })

const notSignedIn = "The sign-in failed"

const at = endpointsOf("signIn", { id: ["Id of the issuer.", exampleId] })

export class SignIn extends HttpApiGroup.make("signIn")
  .annotate(OpenApi.Title, "Sign-in of people")
  .annotate(OpenApi.Description, "The way of a browser to an issuer and back, to a session of a person.")
  .add(
    at("offered", {
      summary: "List the ways to sign in",
      description: "For the login page: the names of the enabled issuers."
    }).addSuccess(Offered)
  )
  .add(
    at("begin", {
      summary: "Begin to sign in",
      description:
        "A page that sends the browser to the issuer, with a cookie that only this browser can come back with, within ten minutes."
    })
      .setUrlParams(BeginQuery)
      .addSuccess(page("The page that goes on at the issuer.", "Sign in"))
      .addSuccess(page("There is no such issuer, or it is switched off.", notSignedIn), { status: 404 })
      .addSuccess(page("Too many sign-ins were begun; see `Retry-After`.", notSignedIn), { status: 429 })
      .addSuccess(page("The issuer could not be asked.", notSignedIn), { status: 502 })
      .addSuccess(page("The database could not be used.", notSignedIn), { status: 503 })
  )
  .add(
    at("callback", {
      summary: "Come back from an issuer",
      description:
        "Where the issuer sends the browser, with `code` and `state`, which is used once. Sets the session's cookie and goes on to the dashboard. Errors are pages too."
    })
      .addSuccess(page("The person is signed in.", "Signed in"))
      .addSuccess(page("It was not begun by this browser, is over, or was used.", notSignedIn), { status: 400 })
      .addSuccess(page("The person may not sign in.", notSignedIn), { status: 403 })
      .addSuccess(page("There is no such issuer, or it is switched off.", notSignedIn), { status: 404 })
      .addSuccess(page("Too many sign-ins were tried; see `Retry-After`.", notSignedIn), { status: 429 })
      .addSuccess(page("The issuer refused, or what it sent is not good.", notSignedIn), { status: 502 })
      .addSuccess(page("The database could not be used.", notSignedIn), { status: 503 })
  )
  .add(
    at("logout", {
      summary: "Log out, at the issuer too",
      description: "Ends the session of the cookie, and answers where the browser ends the one at the issuer."
    }).addSuccess(LoggedOut)
  ) {}
