/** Memories of callers (docs/memory.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { maxContentChars, maxKeyChars, memorySources, memoryTypes } from "./entity.ts"
import { MemorySettings, MemorySettingsPatch } from "../settings/entity/MemorySettings.ts"
import { exactOptional, field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleKeyId, exampleTime } from "../../contract/Examples.ts"
import { body, Created, nextCursor, total, NoContent, optional, ReadOnly, Text } from "../../contract/Inputs.ts"
import { observed } from "../../kernel/Observed.ts"

const words = {
  apiKeyId: ["Id of the API key whose memory it is; null: of callers without a key, who are one caller.", exampleKeyId],
  type: ["A fact of the caller, an event, a way of doing things, or knowledge.", "factual"],
  key: ["Names it among the memories of its type: another with the same key replaces it.", "preference:editor"],
  content: ["What is remembered.", "I prefer short answers with code first."],
  sessionId: ["The session that it is about; null: none.", null, "session-1"]
} as const

const MemoryType = Schema.Literal(...memoryTypes)

export const MemoryView = Schema.Struct({
  id: field(Schema.String, "Id of the memory, in paths of this API.", exampleId),
  apiKeyId: field(Schema.NullOr(Schema.String), ...words.apiKeyId),
  type: field(MemoryType, ...words.type),
  source: field(
    Schema.Literal(...memorySources),
    "`added` by this API, or `extracted` from a conversation by rules.",
    "added"
  ),
  key: field(Schema.String, ...words.key),
  content: field(Schema.String, ...words.content),
  sessionId: field(Schema.NullOr(Schema.String), ...words.sessionId),
  createdAt: field(Schema.String, "When it was made, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was last changed, ISO 8601.", exampleTime),
  lastUsedAt: observed(
    Schema.String,
    "When it was last written or put into a request, ISO 8601; from then on `retentionDays` count.",
    exampleTime
  )
}).annotations({ identifier: "Memory" })
export type MemoryView = typeof MemoryView.Type

const Id = Text.pipe(Schema.maxLength(200))
const Key = Text.pipe(Schema.maxLength(maxKeyChars))
const Content = Text.pipe(Schema.maxLength(maxContentChars))
const SessionId = Text.pipe(Schema.maxLength(512))
export const MemoryQuery = Schema.Struct({
  apiKeyId: field(exactOptional(Id), "Only those of this API key; `none`: of callers without one.", exampleKeyId),
  type: field(exactOptional(MemoryType), "Only those of this type.", "factual"),
  sessionId: field(exactOptional(SessionId), "Only those of this session.", "session-1"),
  q: field(
    exactOptional(Schema.String.pipe(Schema.maxLength(10_000))),
    "Only those that have one of these words, the best match first; 100 at most.",
    "editor"
  )
})
export type MemoryQuery = typeof MemoryQuery.Type

export const CreateMemory = Schema.Struct({
  apiKeyId: field(optional(Id), ...words.apiKeyId),
  type: field(optional(MemoryType), ...words.type),
  key: field(optional(Key), words.key[0] + " Absent: made of the words of the content.", words.key[1]),
  content: field(Content, ...words.content),
  sessionId: field(optional(SessionId), ...words.sessionId)
}).annotations(body("CreateMemory"))
export type CreateMemory = typeof CreateMemory.Type

/** Update of a memory; an absent member stays as it is. */
export const UpdateMemory = Schema.Struct({
  type: field(optional(MemoryType), ...words.type),
  key: field(optional(Key), ...words.key),
  content: field(optional(Content), ...words.content),
  sessionId: field(Schema.optionalWith(Schema.NullOr(SessionId), { exact: true }), ...words.sessionId),
  id: ReadOnly,
  apiKeyId: ReadOnly,
  source: ReadOnly,
  createdAt: ReadOnly,
  updatedAt: ReadOnly,
  lastUsedAt: ReadOnly
}).annotations(body("UpdateMemory"))
export type UpdateMemory = typeof UpdateMemory.Type

export const PreviewMemory = Schema.Struct({
  apiKeyId: field(optional(Id), ...words.apiKeyId),
  query: field(
    Text.pipe(Schema.maxLength(100_000)),
    "The user's turn that memories are searched for.",
    "Which editor?"
  ),
  maxTokens: field(
    optional(Schema.Int.pipe(Schema.between(50, 16_000))),
    "Most tokens of the block; absent: the setting's.",
    2000
  )
}).annotations(body("PreviewMemory"))
export type PreviewMemory = typeof PreviewMemory.Type

export const OneMemory = Schema.Struct({ memory: field(MemoryView, "The memory.") }).annotations({
  identifier: "MemoryAnswer"
})

export const MemoryList = Schema.Struct({
  memories: field(Schema.Array(MemoryView), "The memories of the page."),
  nextCursor,
  total
}).annotations({ identifier: "MemoryList" })

export const MemoryHealth = Schema.Struct({
  enabled: field(Schema.Boolean, "Whether memories are put into requests.", true),
  ok: field(Schema.Boolean, "Whether every memory is in the index; `POST /api/memory/reindex` makes it so.", true),
  engine: field(Schema.Literal("fts5"), "What searches them.", "fts5"),
  vectors: field(Schema.Boolean, "Whether they are searched by their meaning too.", false),
  entries: field(Schema.Number, "Memories of all callers.", 12),
  bytes: field(Schema.Number, "Bytes of their keys and contents.", 2048),
  indexed: field(Schema.Number, "Memories in the index.", 12)
}).annotations({ identifier: "MemoryHealth" })

export const MemoryPreview = Schema.Struct({
  memories: field(Schema.Array(MemoryView), "Those that would be put into the request, in their order."),
  block: field(Schema.NullOr(Schema.String), "The text before the user's turn; null: none.", "Memory context:\n…"),
  tokens: field(Schema.Number, "Its tokens, estimated.", 64)
}).annotations({ identifier: "MemoryPreview" })

const at = endpointsOf("memory", { id: ["Id of the memory.", exampleId] })

const changing = (summary: string) => ({
  summary,
  description:
    "What is absent stays as it is. Later requests get it as it then is, those of sessions that go on as well.",
  example: { content: "I prefer long answers." }
})

export class Memory extends HttpApiGroup.make("memory")
  .annotate(OpenApi.Title, "Memory")
  .annotate(
    OpenApi.Description,
    "What is remembered of callers, by API key, and told to models. A memory is deleted with its API key."
  )
  .add(
    at("list", {
      summary: "List or search memories",
      description: "The newest first; with `q` the best match first. 1000 at most in one answer.",
      paged: true
    })
      .setUrlParams(MemoryQuery)
      .addSuccess(MemoryList)
  )
  .add(
    at("create", {
      summary: "Add a memory",
      description:
        "Replaces the one with the same API key, type and key. 409 `memory_full` when the API key has as many as it may: 1000, or 2 MiB.",
      example: { type: "factual", key: "preference:editor", content: "I use Helix." }
    })
      .setPayload(CreateMemory)
      .addSuccess(Created(OneMemory))
      .addError(ConflictAnswer)
  )
  .add(
    at("health", {
      summary: "Show the state of the memory",
      description: "How many memories there are, what searches them, and whether the index has them all."
    }).addSuccess(MemoryHealth)
  )
  .add(
    at("reindex", {
      summary: "Make the index of the memory anew",
      description: "From the memories themselves; answers when it is done."
    }).addSuccess(Schema.Struct({ indexed: field(Schema.Number, "Memories in the index.", 12) }))
  )
  .add(
    at("preview", {
      summary: "Show what a question would be told",
      description: "The memories that would be put into a request with this last turn, and the text. Nothing is asked.",
      example: { query: "Which editor do I use?" }
    })
      .setPayload(PreviewMemory)
      .addSuccess(MemoryPreview)
  )
  .add(
    at("get", { summary: "Show a memory", description: "The memory as it is now." })
      .addSuccess(OneMemory)
      .addError(NotFoundAnswer)
  )
  .add(
    at("update", changing("Change a memory"))
      .setPayload(UpdateMemory)
      .addSuccess(OneMemory)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("patch", changing("Change a memory (PATCH)"))
      .setPayload(UpdateMemory)
      .addSuccess(OneMemory)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("remove", {
      summary: "Forget a memory",
      description: "No later request gets it, those of sessions that go on neither."
    })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  )
  .add(
    at("settings", {
      summary: "Show the settings of the memory",
      description: "The same as `memory` in `/api/settings`."
    }).addSuccess(MemorySettings)
  )
  .add(
    at("setSettings", {
      summary: "Change the settings of the memory",
      description: "What is absent or null stays as it is.",
      example: { enabled: true, maxTokens: 1000 }
    })
      .setPayload(MemorySettingsPatch.annotations(body("ChangeMemorySettings")))
      .addSuccess(MemorySettings)
  ) {}
