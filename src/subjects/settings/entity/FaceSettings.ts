/** Settings of the face to people: the address they use, and where the dashboard is shown (`publicUrl` and `dashboard` in `/api/settings`). */
import * as Schema from "effect/Schema"
import { field } from "../../../kernel/Documented.ts"
import { readPublicUrl } from "../../../kernel/text/PublicUrl.ts"

const words = {
  publicUrl: [
    "The address that callers use where a reverse proxy stands before the gateway (`docs/operations.md`); with `https` the session's cookie is for TLS only. It wins over the variable `GATEWAY_PUBLIC_URL`; null: that one, or none.",
    "https://ai.example/llm"
  ],
  dashboard: "The pages at `/dashboard` (`docs/dashboard.md`).",
  overTunnels: ["Whether they are answered through tunnels; else 403 `dashboard_local_only`.", false],
  requestViews: [
    "Filters of the requests that are kept by a name, as they are typed in the dashboard, at most 50; a change replaces them all.",
    { "slow failures": "status:failed >10s" }
  ]
} as const

const mostViews = 50

/** Names and filters are what people type. */
const RequestViews = Schema.Record({
  key: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(80)),
  value: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(1_000))
}).pipe(Schema.filter((views) => (Object.keys(views).length <= mostViews ? true : `must be ${mostViews} or fewer`)))

const PublicUrl = Schema.Trim.pipe(
  Schema.maxLength(2048),
  Schema.filter((text) =>
    readPublicUrl(text) === null
      ? "must be an http or https address such as https://ai.example/llm, without user name, query and fragment"
      : true
  )
)

/** Null clears `publicUrl`; of the others it leaves a member as it is. */
export const faceSettings = {
  publicUrl: field(Schema.NullOr(Schema.String), ...words.publicUrl),
  dashboard: field(
    Schema.Struct({
      overTunnels: field(Schema.Boolean, ...words.overTunnels),
      requestViews: field(Schema.Record({ key: Schema.String, value: Schema.String }), ...words.requestViews)
    }),
    words.dashboard
  )
}

const leave = { exact: true, nullable: true } as const

export const faceSettingsPatch = {
  publicUrl: field(Schema.optionalWith(Schema.NullOr(PublicUrl), { exact: true }), ...words.publicUrl),
  dashboard: field(
    Schema.optionalWith(
      Schema.Struct({
        overTunnels: field(Schema.optionalWith(Schema.Boolean, leave), ...words.overTunnels),
        requestViews: field(Schema.optionalWith(RequestViews, leave), ...words.requestViews)
      }),
      leave
    ),
    words.dashboard
  )
}

const noViews: Readonly<Record<string, string>> = {}

export const defaultFaceSettings = {
  publicUrl: null,
  dashboard: { overTunnels: words.overTunnels[1], requestViews: noViews }
}
