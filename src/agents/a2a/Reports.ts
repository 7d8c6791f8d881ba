/** Writes the agent's reports about the gateway itself: tables made of answers of the management API. Pure. */
import { isArray, type Json, type JsonObject, numberOr, objectOr, stringOr } from "../../wire/json/Json.ts"

/** Rows of a report; what is left out is counted below it. */
const maxRows = 50

const cell = (value: Json | undefined): string => {
  if (value === null || value === undefined || value === "") return "-"
  const text = typeof value === "object" ? JSON.stringify(value) : String(value)
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll("|", String.raw`\|`)
    .slice(0, 200)
}

const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Json | undefined>>): string =>
  [
    `| ${heads.join(" | ")} |`,
    `|${heads.map(() => "---").join("|")}|`,
    ...rows.slice(0, maxRows).map((row) => `| ${row.map(cell).join(" | ")} |`),
    ...(rows.length > maxRows ? ["", `${rows.length - maxRows} more are not shown.`] : [])
  ].join("\n")

const listOf = (value: Json | undefined): ReadonlyArray<JsonObject> => (isArray(value) ? value.map(objectOr) : [])

const usd = (value: Json | undefined): string => {
  const amount = numberOr(value)
  return amount === null ? "-" : `${amount.toFixed(amount !== 0 && Math.abs(amount) < 0.01 ? 6 : 2)} USD`
}

const percent = (value: Json | undefined): string => {
  const part = numberOr(value)
  return part === null ? "-" : `${(part * 100).toFixed(1)} %`
}

/** Writes the report of `GET /api/monitoring/health`. */
export const healthReport = (health: JsonObject): string => {
  const connections = objectOr(health["connections"])
  const breakers = objectOr(health["breakers"])
  const log = objectOr(health["usageLog"])
  const database = objectOr(health["database"])
  return [
    "# Health",
    "",
    `The gateway is ${health["status"] === "ok" ? "well" : cell(health["status"])}; version ${cell(health["version"])}, up for ${Math.round((numberOr(health["uptimeMs"]) ?? 0) / 1000)} s.`,
    "",
    table(
      ["what", "count"],
      [
        ["connections", connections["total"]],
        ["available", connections["available"]],
        ["cooling down", connections["cooling"]],
        ["out of use until someone acts", connections["terminal"]],
        ["breakers open", breakers["open"]],
        ["breakers degraded", breakers["degraded"]]
      ]
    ),
    ...(stringOr(database["problem"]) === null ? [] : ["", `Database: ${cell(database["problem"])}`]),
    ...(stringOr(log["problem"]) === null ? [] : ["", `Usage log: ${cell(log["problem"])}`])
  ].join("\n")
}

/** Writes the report of `GET /api/providers` and `GET /api/rate-limits`. */
export const providerReport = (providers: JsonObject): string => {
  const connections = listOf(providers["connections"])
  if (connections.length === 0) {
    return "# Providers\n\nNo provider is connected yet. Add one with `POST /api/providers` (skill gw-providers)."
  }
  const rows = connections.map((connection) => [
    connection["provider"],
    connection["name"],
    connection["isActive"] === false ? "switched off" : connection["testStatus"],
    objectOr(connection["modelList"])["count"] ?? (isArray(connection["models"]) ? connection["models"].length : null)
  ])
  return ["# Providers", "", table(["provider", "connection", "state", "models"], rows)].join("\n")
}

/** Writes the report of `GET /api/rate-limits` and `GET /api/providers`. */
export const quotaReport = (limits: JsonObject, providers: JsonObject): string => {
  const held = listOf(limits["connections"]).filter((each) => stringOr(each["rateLimitedUntil"]) !== null)
  const quotas = listOf(providers["connections"]).flatMap((connection) =>
    listOf(connection["quotas"]).map((quota) => [
      connection["provider"],
      connection["name"],
      quota["window"],
      quota["remaining"] ?? null,
      quota["limit"],
      quota["resetAt"]
    ])
  )
  const overview = objectOr(limits["overview"])
  return [
    "# Quotas",
    "",
    `${cell(overview["available"])} of ${cell(overview["total"])} connections can be used now.`,
    ...(quotas.length === 0
      ? ["", "No provider has told of a quota yet."]
      : ["", table(["provider", "connection", "window", "left", "of", "resets"], quotas)]),
    ...(held.length === 0
      ? []
      : [
          "",
          "Held back:",
          "",
          table(
            ["provider", "connection", "until"],
            held.map((each) => [each["provider"], each["name"], each["rateLimitedUntil"]])
          )
        ])
  ].join("\n")
}

const usageRows = (rows: ReadonlyArray<JsonObject>, name: string) =>
  rows.map((row) => [
    row[name] ?? row["name"] ?? row["id"],
    row["requests"],
    row["tokensIn"],
    row["tokensOut"],
    usd(row["costUsd"]),
    percent(row["successRate"])
  ])

const usageHeads = ["", "requests", "tokens in", "tokens out", "cost", "succeeded"]

/** Writes the report of `GET /api/usage/analytics`. */
export const costReport = (analytics: JsonObject): string => {
  const summary = objectOr(analytics["summary"])
  return [
    "# Costs of the last 30 days",
    "",
    `${cell(summary["requests"])} requests, ${usd(summary["costUsd"])}; ${cell(summary["unpriced"])} of them have no known price.`,
    "",
    table(["provider", ...usageHeads.slice(1)], usageRows(listOf(analytics["byProvider"]), "provider")),
    "",
    table(["model", ...usageHeads.slice(1)], usageRows(listOf(analytics["byModel"]), "model"))
  ].join("\n")
}

/** Writes the report of `GET /api/usage/me`. */
export const ownCostReport = (me: JsonObject): string => {
  const rows = Object.entries(objectOr(me["totals"])).flatMap(([name, value]) => {
    const spend = objectOr(value)
    return numberOr(spend["costUsd"]) === null
      ? []
      : [[name, spend["requests"], spend["tokens"], usd(spend["costUsd"])]]
  })
  const budget = objectOr(me["budget"])
  return [
    "# Use of this key",
    "",
    table(["window", "requests", "tokens", "cost"], rows),
    ...(numberOr(budget["remainingUsd"]) === null ? [] : ["", `Left of the budget: ${usd(budget["remainingUsd"])}.`])
  ].join("\n")
}

export interface ListedSkill {
  readonly id: string
  readonly description: string
}

/** A table of all pages with their addresses. */
export const capabilities = (skills: ReadonlyArray<ListedSkill>, origin: string): string =>
  [
    "| skill | what it tells | page |",
    "|---|---|---|",
    ...skills.map(({ description, id }) => `| ${id} | ${cell(description)} | ${origin}/skills/${id}/SKILL.md |`)
  ].join("\n")
