/** The declaration of a subject that has routes: its group of the API, its rows of the route table, and where they are described and loaded. */
import type { ApiSkillId } from "../../subjects/skills/entity.ts"
import type { Row } from "./Tiers.ts"

export interface Subject<Group extends string, Routes> {
  readonly group: Group
  /** Skill whose page describes the routes. */
  readonly skill: ApiSkillId
  /** Chunk of the program that has the handlers; absent: `others`, those that many gateways are never asked for. */
  readonly handlers?: "usual" | "traffic"
  /** Routes by the names of their endpoints. */
  readonly routes: Routes
}

/** Declares a subject. Every list of subjects is made from these declarations and the names of the files beside them (`bin/subjects.mjs`). */
export const subject = <const Group extends string, Routes extends Readonly<Record<string, Row>>>(
  group: Group,
  about: Omit<Subject<Group, Routes>, "group">
): Subject<Group, Routes> => ({ group, ...about })
