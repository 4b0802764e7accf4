export const FLAG_KEY = '^feature(\\.[a-z0-9-]+)+$';
export const VARIANT = '^[A-Za-z0-9_-]{1,64}$';
export const SERVICE_SLUG = '^[a-z][a-z-]{1,39}$';
export const BRAND_SLUG = '^[a-z0-9-]{2,40}$';
export const CONFIG_KEY = '^[a-z][a-z-]{1,39}(\\.[a-z0-9_-]{1,64})+$';
