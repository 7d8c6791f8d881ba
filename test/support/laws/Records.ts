/** Calls of the repositories of what the gateway keeps besides, drawn for histories: audit, files, webhooks, memories, decisions, counts. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import { AuditRepo } from "../../../src/subjects/audit/repo.ts"
import { ErasureRepo } from "../../../src/subjects/users/ErasureRepo.ts"
import { AnswerCacheRepo } from "../../../src/subjects/cache/repo.ts"
import { CompressionCountsRepo } from "../../../src/subjects/compression/CompressionCountsRepo.ts"
import { FileRepo } from "../../../src/subjects/files/repo.ts"
import { McpAuditRepo } from "../../../src/subjects/mcp/repo.ts"
import { MemoryRepo } from "../../../src/subjects/memory/repo.ts"
import { DecisionRepo } from "../../../src/subjects/routing/repo.ts"
import { OutboxRepo } from "../../../src/subjects/webhooks/OutboxRepo.ts"
import { WebhookRepo } from "../../../src/subjects/webhooks/repo.ts"
import type { Dice, Step } from "./Histories.ts"

type Maker = (dice: Dice) => Step

const nowMs = 1_700_000_000_000
const timeOf = (dice: Dice): number => nowMs + dice.below(50) * 1_000

const audit: Maker = (dice) => {
  const rows = Array.from({ length: 1 + dice.below(4) }, () => ({
    id: `r-${dice.below(200)}`,
    timestampMs: timeOf(dice),
    action: dice.of(["keys.create", "auth.login.success", dice.text()]),
    actor: dice.of(["anonymous", "owner"]),
    target: dice.orNull(dice.text()),
    resourceType: "key",
    status: dice.of(["success", "failure"] as const),
    ip: "127.0.0.1",
    details: {
      httpStatus: dice.of([200, 401, 500]),
      fields: [dice.text()],
      ...(dice.chance(0.5) ? { userId: dice.of(["ada", "bo"]), userName: dice.text() } : {})
    }
  }))
  const filter = dice.of([
    {},
    { action: "keys.*" },
    { actor: "owner" },
    { status: "failure" as const, fromMs: nowMs + 9_000 }
  ])
  const offset = dice.below(5)
  const trimMs = timeOf(dice) + 180 * 86_400_000
  const person = dice.of(["ada", "bo"])
  return dice.of<Step>([
    { name: "erasure.acts", run: Effect.flatMap(ErasureRepo, (repo) => repo.acts(person, 20)) },
    { name: "erasure.rename", run: Effect.flatMap(ErasureRepo, (repo) => repo.rename(person, "erased person")) },
    { name: "audit.add", run: Effect.flatMap(AuditRepo, (repo) => repo.add(rows)) },
    { name: "audit.page", run: Effect.flatMap(AuditRepo, (repo) => repo.page(filter, 10, offset)) },
    { name: "audit.trim", run: Effect.flatMap(AuditRepo, (repo) => repo.trim(trimMs)) }
  ])
}

const files: Maker = (dice) => {
  const file = {
    id: `file-${dice.below(30)}`,
    owner: dice.of(["", "key-1"]),
    filename: dice.text(),
    purpose: dice.of(["batch", "assistants"]),
    bytes: dice.below(300),
    sha256: "0".repeat(64),
    createdAtMs: timeOf(dice),
    expiresAtMs: dice.orNull(timeOf(dice))
  }
  const page = {
    owner: file.owner,
    purpose: dice.orNull("batch"),
    after: dice.orNull(file.id),
    order: dice.of(["asc", "desc"] as const),
    limit: 5,
    nowMs: timeOf(dice)
  }
  return dice.of<Step>([
    { name: "files.insert", run: Effect.flatMap(FileRepo, (repo) => repo.insert(file, 1_500)) },
    { name: "files.find", run: Effect.flatMap(FileRepo, (repo) => repo.find(file.owner, file.id, page.nowMs)) },
    { name: "files.page", run: Effect.flatMap(FileRepo, (repo) => repo.page(page)) },
    { name: "files.used", run: Effect.flatMap(FileRepo, (repo) => repo.used(file.owner, page.nowMs)) },
    { name: "files.remove", run: Effect.flatMap(FileRepo, (repo) => repo.remove(file.owner, file.id)) },
    { name: "files.removeExpired", run: Effect.flatMap(FileRepo, (repo) => repo.removeExpired(nowMs + 5_000)) }
  ])
}

const webhooks: Maker = (dice) => {
  const webhook = {
    id: `w-${dice.below(3)}`,
    url: "https://hooks.example/1",
    events: dice.of([["*"], ["request.completed"], []]),
    kind: "custom" as const,
    mail: null,
    secret: Redacted.make("s"),
    enabled: dice.chance(0.8),
    description: dice.orNull(dice.text()),
    timeZone: dice.of(["UTC", "Asia/Tokyo"]),
    quietHours: dice.orNull({
      windows: [{ days: ["mon", "sun"] as const, from: "22:00", to: "07:00" }],
      passSeverity: dice.orNull("error" as const),
      passEvents: ["quota.exceeded"]
    }),
    createdAtMs: timeOf(dice),
    lastTriggeredAtMs: null,
    lastStatus: null,
    failureCount: 0
  }
  const events = Array.from({ length: 1 + dice.below(3) }, () => ({
    id: `e-${dice.below(40)}`,
    event: "request.completed" as const,
    atMs: timeOf(dice),
    data: { n: dice.below(9), text: dice.text(), ...(dice.chance(0.5) ? { accountId: dice.text() } : {}) }
  }))
  const report = {
    id: `e-${dice.below(40)}`,
    event: "report.weekly" as const,
    atMs: timeOf(dice),
    data: { time_zone: dice.of(["UTC", "Asia/Tokyo"]), cost_usd: dice.below(9) }
  }
  const digest = { id: `d-${dice.below(40)}`, event: "quiet.digest" as const, atMs: timeOf(dice), data: { total: 2 } }
  const attempt = {
    webhookId: webhook.id,
    eventId: `e-${dice.below(40)}`,
    event: "request.completed",
    attempt: 1 + dice.below(3),
    status: dice.of([0, 200, 500]),
    success: dice.chance(0.5),
    error: dice.orNull(dice.text()),
    latencyMs: dice.below(100),
    atMs: timeOf(dice),
    endsSeq: null
  }
  // Numbers of rows are an engine's own.
  const pageOf = (kind: "page" | "heldPage") =>
    Effect.map(
      Effect.flatMap(OutboxRepo, (repo) => repo[kind](webhook.id, 0, 20)),
      (found) => found.map((event) => ({ ...event, seq: 0 }))
    )
  const holdFirst = Effect.flatMap(OutboxRepo, (repo) =>
    Effect.flatMap(repo.page(webhook.id, 0, 2), (found) => repo.hold(found.map(({ seq }) => seq)))
  )
  return dice.of<Step>([
    { name: "webhooks.insert", run: Effect.flatMap(WebhookRepo, (repo) => repo.insert(webhook)) },
    { name: "webhooks.list", run: Effect.flatMap(WebhookRepo, (repo) => repo.list) },
    { name: "webhooks.remove", run: Effect.flatMap(WebhookRepo, (repo) => repo.remove(webhook.id)) },
    { name: "outbox.add", run: Effect.flatMap(OutboxRepo, (repo) => repo.add(events)) },
    { name: "outbox.add", run: Effect.flatMap(OutboxRepo, (repo) => repo.add(events)) },
    { name: "outbox.page", run: pageOf("page") },
    { name: "outbox.add", run: Effect.flatMap(OutboxRepo, (repo) => repo.add([report])) },
    { name: "outbox.hold", run: holdFirst },
    { name: "outbox.heldPage", run: pageOf("heldPage") },
    {
      name: "outbox.digest",
      run: Effect.flatMap(OutboxRepo, (repo) => repo.digest(webhook.id, Number.MAX_SAFE_INTEGER, digest))
    },
    { name: "outbox.trim", run: Effect.flatMap(OutboxRepo, (repo) => repo.trim(webhook.id, 5)) },
    { name: "outbox.waiting", run: Effect.flatMap(OutboxRepo, (repo) => repo.waiting) },
    { name: "outbox.record", run: Effect.flatMap(OutboxRepo, (repo) => repo.record([attempt])) },
    {
      name: "outbox.attempts",
      run: Effect.map(
        Effect.flatMap(OutboxRepo, (repo) => repo.attempts(webhook.id)),
        (found) => found.map((one) => ({ ...one, id: 0 }))
      )
    }
  ])
}

const words = ["paris", "likes", "tea", "coffee", "Ärger", "x"]

const memories: Maker = (dice) => {
  const memory = {
    id: `m-${dice.below(40)}`,
    apiKeyId: dice.orNull(dice.of(["key-1", "key-2"])),
    type: dice.of(["factual", "episodic"] as const),
    source: dice.of(["added", "extracted"] as const),
    key: dice.text(),
    content: dice.text(),
    sessionId: dice.orNull("s-1"),
    createdAtMs: timeOf(dice),
    updatedAtMs: timeOf(dice),
    lastUsedAtMs: timeOf(dice)
  }
  const terms = words.filter(() => dice.chance(0.5))
  const filter = dice.of([{}, { apiKeyId: memory.apiKeyId }, { type: "factual" as const }])
  const indexed = { memory, terms }
  const usedMs = timeOf(dice)
  return dice.of<Step>([
    { name: "memories.save", run: Effect.flatMap(MemoryRepo, (repo) => repo.save(operatorsOwn, indexed)) },
    { name: "memories.save", run: Effect.flatMap(MemoryRepo, (repo) => repo.save(operatorsOwn, indexed)) },
    { name: "memories.replace", run: Effect.flatMap(MemoryRepo, (repo) => repo.replace(operatorsOwn, indexed)) },
    {
      name: `memories.search ${terms.join(" ")}`,
      // All that is found, whatever the order: FTS5 goes on counting rows of a table without content that were removed, and weighs words by that.
      run: Effect.flatMap(MemoryRepo, (repo) =>
        Effect.map(repo.search({ apiKeyId: memory.apiKeyId }, terms, 1_000), (found) =>
          found.toSorted((one, other) => one.id.localeCompare(other.id))
        )
      )
    },
    { name: "memories.ids", run: Effect.flatMap(MemoryRepo, (repo) => repo.ids(filter)) },
    { name: "memories.used", run: Effect.flatMap(MemoryRepo, (repo) => repo.used([memory.id], usedMs)) },
    { name: "memories.counts", run: Effect.flatMap(MemoryRepo, (repo) => repo.counts) },
    { name: "memories.remove", run: Effect.flatMap(MemoryRepo, (repo) => repo.remove(memory.id)) },
    { name: "memories.removeUnused", run: Effect.flatMap(MemoryRepo, (repo) => repo.removeUnused(nowMs + 3_000)) }
  ])
}

const others: Maker = (dice) => {
  const decisions = [0, 1].map(() => ({
    requestId: `q-${dice.below(60)}`,
    atMs: timeOf(dice),
    record: `{"n":${dice.below(9)}}`
  }))
  const counts = {
    day: dice.of(["2026-11-20", "2026-11-21"]),
    mode: dice.text(),
    source: "key",
    requests: dice.below(9),
    changed: 1,
    tokensBefore: dice.below(1e6),
    tokensAfter: dice.below(1e5)
  }
  const asked = `q-${dice.below(60)}`
  const call = {
    id: `call-${dice.below(1e6)}`,
    atMs: timeOf(dice),
    tool: dice.of(["a", "B", "ä"]),
    apiKeyId: dice.orNull("key-1"),
    inputHash: "0",
    outputSummary: dice.text(),
    durationMs: dice.below(100),
    success: dice.chance(0.5),
    errorCode: null
  }
  return dice.of<Step>([
    { name: "decisions.insert", run: Effect.flatMap(DecisionRepo, (repo) => repo.insert(decisions)) },
    { name: "decisions.kept", run: Effect.flatMap(DecisionRepo, (repo) => repo.kept(["q-1", "q-2", "q-3", "q-4"])) },
    { name: "decisions.get", run: Effect.flatMap(DecisionRepo, (repo) => repo.get(asked)) },
    {
      name: "decisions.prune",
      run: Effect.flatMap(DecisionRepo, (repo) => repo.prune({ sinceMs: nowMs + 5_000, maxRows: 20 }))
    },
    { name: "compression.add", run: Effect.flatMap(CompressionCountsRepo, (repo) => repo.add([counts])) },
    { name: "compression.since", run: Effect.flatMap(CompressionCountsRepo, (repo) => repo.since("2026-11-21")) },
    { name: "mcp.add", run: Effect.flatMap(McpAuditRepo, (repo) => repo.add(call)) },
    { name: "mcp.sums", run: Effect.flatMap(McpAuditRepo, (repo) => repo.sums(nowMs + 5_000)) },
    { name: "cache.count", run: Effect.flatMap(AnswerCacheRepo, (repo) => repo.count) }
  ])
}

export const records: ReadonlyArray<Maker> = [audit, files, webhooks, memories, others]
