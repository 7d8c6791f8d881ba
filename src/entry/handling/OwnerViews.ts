/** People and teams as the API shows them. */
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import type { Standing } from "../../plane/ledger/KeyLimits.ts"
import type { OwnerBudget } from "../../subjects/limits/entity.ts"
import type { OwnerMeter } from "../../subjects/limits/routes.ts"
import type { TeamView } from "../../subjects/teams/routes.ts"
import type { ObservedTeam } from "../../subjects/teams/service.ts"
import type { UserView } from "../../subjects/users/routes.ts"
import type { ObservedUser } from "../../subjects/users/service.ts"
import { noticeOf } from "../../subjects/teams/entity.ts"
import { iso } from "./Views.ts"

const budgetView = (budget: OwnerBudget | null) =>
  budget === null
    ? null
    : {
        dailyLimitUsd: budget.dailyLimitNanoUsd / nanoUsdPerUsd,
        weeklyLimitUsd: budget.weeklyLimitNanoUsd / nanoUsdPerUsd,
        monthlyLimitUsd: budget.monthlyLimitNanoUsd / nanoUsdPerUsd,
        warningThreshold: budget.warningThreshold,
        resetTime: budget.resetTime,
        tz: budget.timeZone
      }

/** A limit of a person or a team as it is now. */
export const meterView = ({ spec, window }: Standing): OwnerMeter => {
  const scale = spec.unit === "usd" ? nanoUsdPerUsd : 1
  return {
    unit: spec.unit,
    interval: spec.rule.interval,
    limit: spec.limit / scale,
    used: window.used / scale,
    reserved: window.reserved / scale,
    windowStart: iso(window.startMs),
    nextResetAt: iso(window.endMs)
  }
}

export const userView = ({ standings, teams, user }: ObservedUser): UserView => ({
  id: user.id,
  name: user.name,
  email: user.email,
  role: user.role,
  teams,
  source: user.source,
  issuer: user.issuer,
  state: user.state,
  budget: budgetView(user.budget),
  limits: user.limits,
  meters: standings.map(meterView),
  createdAt: iso(user.createdAtMs),
  updatedAt: iso(user.updatedAtMs)
})

export const teamView = ({ standings, team }: ObservedTeam): TeamView => ({
  id: team.id,
  name: team.name,
  source: team.source,
  parent: team.parent,
  rate: team.rate,
  content: team.content,
  contentNotice: team.contentNotice,
  notice: noticeOf(team),
  budget: budgetView(team.budget),
  models: team.models,
  limits: team.limits,
  members: team.members,
  meters: standings.map(meterView),
  createdAt: iso(team.createdAtMs),
  updatedAt: iso(team.updatedAtMs)
})
