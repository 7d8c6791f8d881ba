/** Paths of members as they are written in JavaScript: `tools[3].input_schema["my key"]`. Pure. */

const plainName = /^[A-Za-z_$][\w$]*$/

export const memberPath = (path: string, key: string): string => {
  if (!plainName.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === "" ? key : `${path}.${key}`
}

export const itemPath = (path: string, at: number): string => `${path}[${at}]`
