/** UTF-8. The decoder reads whole texts only: it is shared, so it must not keep the beginning of one (`stream`). */
export const encoder = new TextEncoder();
export const decoder = new TextDecoder();
