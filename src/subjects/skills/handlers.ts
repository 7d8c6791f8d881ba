/** `/api/agent-skills` and `/skills`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { AgentSkills } from "./routes.ts"
import { NotFound } from "../../contract/Errors.ts"
import type { SkillView } from "./routes.ts"
import { requestedAddress } from "../auth/Credentials.ts"
import { isSkillId, type SkillId, skillIds } from "./entity.ts"
import { closest } from "../../kernel/text/Closest.ts"
import { type Skill, Skills } from "../../agents/skills/Skills.ts"
import { iso } from "../../entry/handling/Views.ts"

const known = (id: string): Effect.Effect<SkillId, NotFound> => {
  const given = id.toLowerCase()
  if (isSkillId(given)) return Effect.succeed(given)
  const [near] = closest(given.slice(0, 64), skillIds, 1)
  const hint = near === undefined ? "GET /api/agent-skills lists them." : `Did you mean '${near}'?`
  return new NotFound({ message: `There is no skill '${id.slice(0, 64)}'. ${hint}`, param: "id" })
}

/** Address that was asked; relative where it is not known. */
const origin = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => requestedAddress(headers) ?? "")

const viewOf =
  (address: string) =>
  (skill: Skill): SkillView => ({ ...skill, rawUrl: `${address}/skills/${skill.id}/SKILL.md` })

const markdown = "text/markdown; charset=utf-8"

export const layer = HttpApiBuilder.group(contractOf(AgentSkills), "agentSkills", (handlers) =>
  Effect.map(Skills, (skills) => {
    const page = ({ path }: { readonly path: { readonly id: string } }) =>
      known(path.id).pipe(
        Effect.flatMap(skills.page),
        Effect.map((text) => HttpServerResponse.text(text, { contentType: markdown }))
      )
    return handlers
      .handle("list", ({ urlParams: { area, category } }) =>
        Effect.map(origin, (address) => ({
          skills: skills.list(category ?? null, area ?? null).map(viewOf(address))
        }))
      )
      .handle("coverage", () =>
        Effect.map(skills.coverage, ({ generatedAtMs, ...coverage }) => ({
          ...coverage,
          generatedAt: iso(generatedAtMs)
        }))
      )
      .handle("get", ({ path }) =>
        Effect.zipWith(known(path.id), origin, (id, address) => ({ skill: viewOf(address)(skills.get(id)) }))
      )
      .handle("raw", page)
      .handle("file", page)
      .handle("generate", ({ payload: { dryRun, onlyIds, prune } }) =>
        Effect.map(
          skills.generate({ dryRun: dryRun ?? false, prune: prune ?? false, onlyIds: onlyIds ?? null }),
          (report) => ({ ...report, folder: skills.folder })
        )
      )
  })
)
