/** Fields of requests. Each row is one thing a client can set. */
import { settingFields } from "./SettingFields.ts"
import { contentFields } from "./ContentFields.ts"
import { toolFields } from "./ToolFields.ts"

export const requestFields = [...contentFields, ...toolFields, ...settingFields] as const

export type RequestFieldId = (typeof requestFields)[number]["id"]
