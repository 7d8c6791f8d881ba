/** Decides which skill describes a route: that of its subject. */
import type { GroupName, ManagementKey, ManagementRoute } from "../../contract/ManagementRoutes.ts"
import { subjects } from "../../contract/Subjects.generated.ts"
import type { ApiSkillId } from "../../subjects/skills/entity.ts"

/** Routes that are apart from their group. */
const apart: Readonly<Partial<Record<ManagementKey, ApiSkillId>>> = {
  "telemetry.caches": "gw-cache",
  "telemetry.clearCaches": "gw-cache"
}

export const skillOfRoute = ({ key }: Pick<ManagementRoute, "key">): ApiSkillId =>
  apart[key] ?? subjects[key.slice(0, key.indexOf(".")) as GroupName].skill
