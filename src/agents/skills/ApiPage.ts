/** The page of a skill about routes: what they are for, how to authenticate, and each with an example. Pure. */
import type { ApiSkillId } from "../../subjects/skills/entity.ts"
import { curlOf } from "./Curl.ts"
import { emptyBlock } from "./CustomBlock.ts"
import { code, frontMatter, page, table } from "./Markdown.ts"
import type { Field, SkillOperation } from "./Operations.ts"
import { skillWords } from "./SkillTexts.ts"
import { type Variable, variablesOf } from "./Variables.ts"

const titleOf = ({ method, path }: SkillOperation): string => `${method} ${path}`

const sectionOf = (operation: SkillOperation): ReadonlyArray<string> => {
  const { answer, description, parameters, status, summary } = operation
  const shown = answer.filter(({ name }) => !name.includes("."))
  return [
    `### ${titleOf(operation)}`,
    "",
    `${summary}. ${description}`.trim(),
    ...(operation.tier === "owner"
      ? ["", "Only the owner of the data folder may: on the gateway's machine, use the command line."]
      : []),
    ...(parameters.length === 0
      ? []
      : [
          "",
          ...table(
            ["parameter", "type", "meaning"],
            parameters.map(({ in: place, meaning, name, required, type }) => [
              `\`${name}\`${place === "path" ? " (path)" : required ? " (needed)" : ""}`,
              type,
              meaning
            ])
          )
        ]),
    ...(operation.tier === "owner" ? [] : ["", ...code("sh", curlOf(operation))]),
    "",
    shown.length === 0
      ? `Answers ${status}.`
      : `Answers ${status} with ${shown.map(({ name }) => `\`${name}\``).join(", ")}.`
  ]
}

const rowOf = ({ meaning, name, required, type }: Field): ReadonlyArray<string> => [
  `\`${name}\``,
  type,
  required ? "yes" : "no",
  meaning
]

const payloadOf = (operation: SkillOperation): ReadonlyArray<string> =>
  operation.body === null || operation.body.fields.length === 0
    ? []
    : [
        `### Body of ${titleOf(operation)}`,
        "",
        ...table(["field", "type", "needed", "meaning"], operation.body.fields.map(rowOf))
      ]

const tierWords: Readonly<Record<SkillOperation["tier"], string | null>> = {
  public: null,
  inference: "Requests to models take an API key of the gateway: `Authorization: Bearer $GATEWAY_API_KEY`.",
  self: "What a key asks about itself takes that key: `Authorization: Bearer $GATEWAY_API_KEY`.",
  known: "What a caller asks about itself takes whichever credential it has: an API key, the admin key or a session.",
  manage: "Management takes the admin key or an API key of scope `manage`: `Authorization: Bearer $GATEWAY_ADMIN_KEY`.",
  scrape:
    "Metrics are open on the gateway's own machine; elsewhere they take an API key of scope `read:metrics` or `manage`.",
  session:
    "Some routes take the session of a login only: log in with `POST /api/auth/login` (skill `gw-auth`), which writes the cookie into `cookies.txt`; `csrfToken` of its answer goes into `GATEWAY_CSRF_TOKEN`.",
  loopback: "Some routes answer only direct connections from the gateway's own machine, with the admin key.",
  // Its routes are described by their own law, at /scim/v2/Schemas.
  scim: null,
  local: null,
  owner: null,
  ingest:
    "What captures hands in its records with a token of its own: `Authorization: Bearer $INSPECTOR_INTERNAL_INGEST_TOKEN`, from the gateway's own machine."
}

const exampleOf: Readonly<Partial<Record<SkillOperation["tier"], string>>> = {
  inference: "export GATEWAY_API_KEY=sk-gw-…",
  self: "export GATEWAY_API_KEY=sk-gw-…",
  known: "export GATEWAY_API_KEY=sk-gw-…",
  manage: "export GATEWAY_ADMIN_KEY=…",
  loopback: "export GATEWAY_ADMIN_KEY=…"
}

const authenticationOf = (
  operations: ReadonlyArray<SkillOperation>,
  variables: ReadonlyArray<Variable>
): ReadonlyArray<string> => {
  const tiers = [...new Set(operations.map(({ tier }) => tier))]
  const words = tiers.flatMap((tier) => tierWords[tier] ?? [])
  const exports = [...new Set(tiers.flatMap((tier) => exampleOf[tier] ?? []))]
  return [
    "## Authentication",
    "",
    "The examples read these variables; put in the values of your gateway:",
    "",
    ...code("text", ["export GATEWAY_URL=http://127.0.0.1:20128", ...exports].join("\n")),
    ...words.flatMap((text) => ["", text]),
    ...(variables.length === 0
      ? []
      : [
          "",
          ...table(
            ["variable", "where its value comes from"],
            variables.map(({ name, source }) => [`\`${name}\``, source])
          )
        ])
  ]
}

export const apiPage = (id: ApiSkillId, operations: ReadonlyArray<SkillOperation>): string => {
  const { description, name, notes, pitfalls } = skillWords[id]
  const variables = [
    ...new Map(
      operations
        .filter(({ tier }) => tier !== "owner")
        .flatMap(variablesOf)
        .map((variable) => [variable.name, variable])
    ).values()
  ]
  const payloads = operations.map(payloadOf).filter((lines) => lines.length > 0)
  return page(
    frontMatter({ name: id, description }),
    ["<!-- Generated from the gateway's own API. Write between the markers at the end; all else is replaced. -->"],
    [`# ${name}`],
    ["## Overview", "", description, ...notes.flatMap((note) => ["", note])],
    operations.length === 0
      ? ["This gateway has no endpoints of this kind."]
      : table(
          ["endpoint", "what it does"],
          operations.map((operation) => [`\`${titleOf(operation)}\``, operation.summary])
        ),
    ...(operations.length === 0 ? [] : [authenticationOf(operations, variables)]),
    ["## Endpoints", ...(operations.length === 0 ? ["", "None."] : [])],
    ...operations.map(sectionOf),
    payloads.length === 0 ? [] : ["## Payloads"],
    ...payloads,
    [
      "## Pitfalls",
      "",
      ...[
        ...pitfalls,
        ...(operations.some(({ body }) => body !== null && body.contentType === "application/json")
          ? [
              "Bodies are JSON with `Content-Type: application/json`; a management route refuses a field that it does not know."
            ]
          : []),
        "Every answer has `X-Gateway-Request-Id`; an error body has `error.message`, `error.type` and `error.code`, and says what to change."
      ].map((text) => `- ${text}`)
    ],
    emptyBlock
  )
}
