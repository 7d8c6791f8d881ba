/** Cloud sync (`docs/cloud-sync.md`). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { UpstreamFailedAnswer } from "../../contract/Errors.ts"
import { body, clearable, HttpUrl, optional } from "../../contract/Inputs.ts"

const words = {
  cloudUrl: ["Address of the server that keeps the bundle.", "https://sync.example.com/team"],
  sharedKey: "Key that bundles are signed with, at least 16 characters; the same on every gateway."
} as const

export const SyncView = Schema.Struct({
  enabled: field(Schema.Boolean, "Whether it is switched on.", true),
  connected: field(Schema.NullOr(Schema.Boolean), "Whether the latest try succeeded; null before the first.", true),
  lastSyncAt: field(Schema.NullOr(Schema.String), "When it last succeeded.", "2026-01-31T12:00:00.000Z"),
  cloudUrl: field(Schema.NullOr(Schema.String), ...words.cloudUrl),
  sharedKey: field(Schema.NullOr(Schema.String), "Masked; null: none is set.", "abcd…wxyz"),
  version: field(Schema.Number, "Version of the configuration that was last sent or taken.", 3),
  lastError: field(Schema.NullOr(Schema.String), "Why the latest try failed.", null)
}).annotations({ identifier: "CloudSync" })
export type SyncView = typeof SyncView.Type

const sharedKey = (least: number) =>
  Schema.Redacted(
    Schema.String.pipe(Schema.minLength(least), Schema.maxLength(1_000)).annotations({
      examples: ["a-long-key-of-your-own"]
    })
  )

const SharedKey = sharedKey(16)

/** Settings that say where to and with which key; null takes one away. A mask is shorter than a key, so the length is judged later. */
export const syncSettings = {
  cloudUrl: field(clearable(HttpUrl), ...words.cloudUrl),
  sharedKey: field(clearable(sharedKey(1)), `${words.sharedKey} As it is shown here, masked, it stays as it is.`)
}

const Act = Schema.Struct({
  action: field(
    Schema.Literal("enable", "sync", "disable"),
    "`enable` synchronises too, and leaves it off when that fails.",
    "enable"
  ),
  cloudUrl: field(optional(HttpUrl), ...words.cloudUrl),
  sharedKey: field(optional(SharedKey), words.sharedKey)
}).annotations(body("CloudSyncAction"))

const at = endpointsOf("sync")

export class Sync extends HttpApiGroup.make("sync")
  .annotate(OpenApi.Title, "Cloud sync")
  .annotate(OpenApi.Description, "Keeps combos and aliases of several gateways the same, without credentials.")
  .add(at("status", { summary: "Show the cloud sync", description: "How it is doing." }).addSuccess(SyncView))
  .add(
    at("act", { summary: "Switch the cloud sync, or synchronise", description: "Answers when it is done." })
      .setPayload(Act)
      .addSuccess(SyncView)
      .addError(UpstreamFailedAnswer)
  )
  .add(
    at("bundle", {
      summary: "Load the signed configuration",
      description:
        "Version, hash and configuration, without credentials. `X-Gateway-Signature` is `sha256=` and the HMAC of the body with the shared key; `ETag` is the hash."
    }).addSuccess(
      HttpApiSchema.Text({ contentType: "application/json" }).annotations({
        description: "The bundle, as JSON.",
        // Answered as the very text that is signed.
        jsonSchema: {
          type: "object",
          required: ["version", "configHash", "config"],
          properties: {
            version: { type: "number", description: "Rises with each change.", examples: [3] },
            configHash: { type: "string", description: "Hash of the configuration.", examples: ["9f86d081"] },
            config: { type: "object", description: "The configuration.", examples: [{}] }
          },
          examples: [{ version: 3, configHash: "9f86d081", config: {} }]
        }
      })
    )
  )
  .add(
    at("initialize", {
      summary: "Synchronise if it is switched on",
      description: "For a start of a machine, or a schedule."
    })
      .addSuccess(
        Schema.Struct({
          initialized: field(Schema.Literal(true), "Always true."),
          ...SyncView.fields
        }).annotations({ identifier: "CloudSyncInitialized" })
      )
      .addError(UpstreamFailedAnswer)
  ) {}
