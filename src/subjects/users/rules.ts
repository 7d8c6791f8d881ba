/** The conversion of an input to a person. Pure. */
import { ownerBudgetOf, ownerLimitsOf } from "../limits/rules.ts"
import type { CreateUser, UpdateUser } from "./routes.ts"
import type { User } from "./entity.ts"

type Settings = Omit<User, "id" | "createdAtMs" | "updatedAtMs">

/** Settings with the changes of an input. */
export const changed = (before: Settings, input: UpdateUser): Settings => ({
  name: input.name ?? before.name,
  email: input.email?.toLowerCase() ?? before.email,
  issuer: before.issuer,
  subject: before.subject,
  userName: before.userName,
  provisioned: before.provisioned,
  role: input.role ?? before.role,
  source: before.source,
  state: input.state ?? before.state,
  budget: input.budget === undefined ? before.budget : ownerBudgetOf(input.budget),
  limits: input.limits === undefined ? before.limits : ownerLimitsOf(input.limits)
})

/** Makes a person that was added by hand, not by a directory. */
export const settingsOf = ({ email, name, ...input }: CreateUser): Settings =>
  changed(
    {
      name,
      email: email.toLowerCase(),
      issuer: null,
      subject: null,
      userName: null,
      provisioned: null,
      role: "member",
      source: "local",
      state: "active",
      budget: null,
      limits: null
    },
    input
  )
