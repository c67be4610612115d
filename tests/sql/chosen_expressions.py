"""Expressions for what is easily wrong, whose results, types and errors are PostgreSQL's.

Over the columns of `schemas.ALL`; with semicolons between them.
"""

from __future__ import annotations

__all__ = ["CHOSEN"]

CHOSEN: dict[str, str] = {
    "digits that Python's contexts round": r"""
12345678901234567890123456789012345.678 + 0*i2; -0.12345678901234567890123456789012345678 + 0*i2;
'12345678901234567890123456789012345.678'::numeric + 0*i2;
(12345678901234567890123456789012345.678 + 0*i2) = 12345678901234567890123456789012345.679;
f8*0 + 9007199254740993.00000000000000000001; f4*0 + 1.00000005960464477540::float4;
-(-9223372036854775808); - - 9223372036854775808; i4 - -((-32768)::int2); -(-2147483648)
""",
    "what constants decide, in order": r"""
false and 1/0 = 1; true or 1/0 = 1; coalesce(1, 1/0); coalesce(null, 2, 1/0);
case when true then 1 else 1/0 end; case when false then 1/0 else 2 end; 1/0 = 1 and false;
greatest(null::int4, null) + 1/(i2 - i2); i4 + least(1, 2) * 1/(i2 - i2)
""",
    "what a NULLIF is of": r"""
nullif(i2, 1.5); nullif(i4, 1.5) / 2; nullif(i2, f8) / 2; nullif(f4, f8); nullif(f4, n);
nullif(n, 1) / 2; nullif(n, f8); nullif(i8, i2) / 2; nullif(d, t); nullif(t, d); nullif(i4, '5')
""",
    "intervals that a parser would cut": r"""
t + interval '1 day 02:03:04'; t + interval '1 day -02:03:04'; t + interval '1 mon 02:03';
t + interval '.5 s'; t + interval '1 day 26:00'; t + interval ''; t + interval '1 day foo';
t + interval '0.1234567 seconds'; t + interval '1.9999999 s'; t - interval '1 day 25:61:00';
t + interval '99999999999 days'
""",
    "texts beside other types": r"""
i4 = '12'; i4 = ' 12 '; i2 < '40000'; f8 = '1e3'; f4 = '1e39'; n = '1.255'; d = '2000-02-29';
d = '2000-02-30'; b = 't'; b = 'tru'; b = 'o'; b = ' ON '; s = 5; d + 1.5; d + i8; d - i2;
i2 + d; d + d; t + 1; -s; -b; -d; i4 || s; s || i4; i4 || i4; s || b; n || s; d || '';
f8 || '!'
""",
    "numbers of two types": r"""
f4 + 1; f4 + 1.5; f4 * i4; f4 / 3; f4 = 0.1; f8 = 0.1; i2 / 2; i2 * 2::int2; i2 % 0; i8 % -1;
n % 0.3; n / 3; i4 / 2.0; f8 % 2; f4 % 2; f8 ^ 2; i4 ^ 2; 2 ^ i2; abs(i2); abs(b); floor(i4);
ceil(i8); round(i4); round(f8); round(f4); trunc(f4); round(n); round(n,1); round(f8, 2);
trunc(n, 1); sqrt(i4); ln(i4); sqrt(-1.0::float8); ln(0::float8 * f8); power(i4, i2);
power(f8, 0.5); power(-8::float8, 1.0/3); ceiling(f8); mod(i4, 3)
""",
    "texts and patterns": r"""
length(i4); lower(i4); substring(s, 1.5); substring(s from 2); substring(s from 2 for -1);
substring(s for 2); substring(i4, 1); s LIKE i4; s LIKE null; s LIKE 'a\'; s LIKE 'a' ESCAPE '';
s LIKE '%\_%'; s ILIKE 'É%'; upper('é' || s)
""",
    "conditions and common types": r"""
i4 IN (1, 2.5); i4 IN (1, null); i4 NOT IN (1, null); s IN ('a', 5); i4 IN ('1','2');
d IN ('2000-02-29'); i4 BETWEEN '1' AND 5; b IN (true); i4 = b; b = 1; b < true; b AND 1;
NOT i4; NOT null; null AND b; 't' AND b; i4 IS TRUE; null IS NULL; 'a' IS NULL; null = null;
null + 1; '1' + 1; '1' + '1'; 1 + null; null || 'a'; - '5'; coalesce(i4, '5');
coalesce(i4, 's'); coalesce(null, null); coalesce(i4, 1.5); coalesce(i4, s); coalesce(d, t);
coalesce(i2, i4, i8); nullif(i4, '5'); nullif(i4, i8); nullif('a', 'b'); nullif(d, t);
greatest(i4, 1.5); greatest(i4, s); least(f4, n); least(null, i4); greatest(d, t);
greatest(s, 'b'); case when b then 1 else 2.5 end; case when b then 'a' else s end;
case when b then 1 else 'x' end; case when b then null end; case i4 when 1.5 then 1 end;
case when i4 then 1 end; case s when 'a' then b end; case when b then d else t end
""",
    "casts": r"""
i4::int2; i8::int4; f8::int4; f4::int8; f8::int2; n::int4; n::int2; s::int4; s::numeric(5,1);
s::float8; s::float4; s::bool; s::date; s::timestamp; b::int4; b::int8; b::int2; i4::bool;
i8::bool; i2::bool; f8::bool; n::bool; b::text; f4::float8; f8::float4; n::float4; n::float8;
i8::float4; f8::numeric(10,2); f4::numeric(20,10); i8::numeric; n::numeric(5,2); n::numeric(3);
t::date; d::timestamp; d::int4; i4::date; d::text; t::text; f4::text; f8::text; n::text;
cast(i4 as bigint); i4::real; i4::double precision; i4::decimal; i4::smallint; '5'::int4 + i4;
'abc'::int4; '1e400'::float8; '1e-400'::float8; '99999'::int2; '2024-13-01'::date;
'nan'::float4; 5::bool; 2::int2::bool
""",
    "dates and times": r"""
extract(year from d); extract(epoch from t); extract(epoch from d); extract(second from t);
extract(milliseconds from t); extract(microseconds from t); extract(millennium from d);
extract(dow from d); extract(year from '2020-01-01'); extract(year from s);
date_trunc('week', t); date_trunc('quarter', t); d + interval '1 day'; interval '1 day' + d;
d - interval '1 month'; t + interval '1 month'; interval '1 day' - t; t - interval '1 year';
t + interval '-1 mon'; t + interval '1' day; t + interval '1 week'; t + interval '1 decade';
t + interval '1h'; t + interval '3 ms'; d + 2147483647; d - 2147483647; d + (-800000);
t + interval '300000 years'; t - interval '7000 years'; d < t; d = t; t < '2020-01-01';
t < date '2020-01-01'; date '2020-01-01' - d; t > '2020-01-01 25:00'
""",
    "literals, names, and constants that fail": r"""
9223372036854775807 + i2; 9223372036854775808 - i2; -9223372036854775808; - 9223372036854775808;
2147483648; -2147483648; 1.; .5; 1e3; 1e-3; 1.50; 5e0; i4 + 1.0; i2 + 1; i2 + 1::int2; i8 + 1;
'a' < 'b'; 'a' || 'b'; s < 'b'; i4 is distinct from null; i4 is not distinct from 1.0;
i4 IS DISTINCT FROM s; b IS NOT UNKNOWN; (b) IS FALSE; i4 isnull; i4 notnull; nosuch;
nosuch(i4); u.i4; "i4"; I4; "I4"; case when 1/0 > 0 then 1 end; b and 1/0 = 1;
case when b then 1 else 1/0 end; 1/0; i4 / 0; null / 0; 0/0.0; i2*0 + sqrt(-1)
""",
    "precedence": r"""
- i4 ^ 2; 2.0::float8 ^ 3 ^ 2; 2 ^ -1; f8 ^ 2 * 3; -i2::int4; - i2 ^ 2 :: float8; i2 % 3 * 2;
i2 * 2 % 3; i2 / 2 * 3; i2 - 1 - 2; i2 - 1 + 2; 'a' || 1 + 2; s || i2 + 1; s || i2 * 2;
1 + i2 || 'x'; NOT b = true; NOT b IS NULL; NOT i2 > 1 AND b; NOT i2 IN (1); NOT s LIKE 'a%';
b OR b AND false; b = b IS NULL; i2 = 1 IS NULL; i2 < 1 IS TRUE; i2 + 1 IS NULL;
i2 + 1 IN (1, 2); i2 + 1 BETWEEN 1 AND 2 + 3; i2 BETWEEN 1 AND 5 AND b; i2 BETWEEN 1 AND 5 OR b;
b AND i2 BETWEEN -5 AND i4 AND b; NOT i2 BETWEEN 1 AND 2; i2 NOT BETWEEN 1 AND 2;
i2 IS DISTINCT FROM i4 + 1; i2 IS DISTINCT FROM i4 AND b; i2 IS NOT DISTINCT FROM 1 OR b;
s LIKE 'a' || '%'; s || 'a' LIKE 'a%'; s LIKE '%a' AND b; s LIKE 'a' = b; -i2 - -i4; - - i2;
+i2; -(-i2); 2 - -3
""",
    "more precedence": r"""
i2 !=1; i2<>-1; i2=-1; i2 >-1; - i2 IS NULL; -i2 < 3; 1 - i2 :: int4 / 2; i2::float8 / 2::int2;
CASE WHEN b THEN 1 END + 1; CASE WHEN b THEN 1 END IS NULL; s::text || 'a'::text;
'a'::text || s; d - 1 < date '2000-01-01'; d + 1 = d - -1; date '2000-01-01' + 1;
timestamp '2000-01-01' - interval '1 day'; d::timestamp + interval '1 day' > t;
extract(year from d) + 1; extract(year from d + 1); extract(day from t - interval '1 day')
""",
    "intervals": r"""
t + interval '1 day 1 hour'; t + interval '1 day 2 hours 3 minutes';
t + interval '1 year 2 months'; t + interval '1 mon -1 day'; t + interval '02:03:04';
t + interval '-02:03'; t + interval '+1 day'; t + interval '1day'; t + interval '5' second;
t + interval '5' month; t + interval '1.5 hours'; t + interval '90' minute;
t + interval '1 day  2 hours'; t + interval ' 1 day '; t + interval '1 DAY';
t + interval '2 weeks 1 day'; t + interval '1 d'; t + interval '1 y'; t + interval '1 m';
t + interval '1 min'; t + interval '1 mins'; t + interval '1 sec'; t + interval '1 us';
t + interval '1 microsecond'; t + interval '1 millisecond'; t + interval '1 quarter';
t + interval '1 yr'; t + interval '1 hr'; t + interval '100 years' - interval '1 day';
t + (interval '1 day'); t - interval '1 day' - interval '1 day'; t + -interval '1 day';
d - '2000-01-01'; interval '1 day' + t; t + interval 'day'; t + interval '1 foo';
t + interval '@ 1 day'; t + interval '1e3 seconds'; t + interval '3000000000 seconds'
""",
    "spellings of texts": r"""
'it''s' || s; s /* c */ = 'a'; "s" || 's'; s||''; '\'||s; 'a\%'; char_length(s);
character_length(s); substr(s, 2); substr(s, 2, 1); lower(null); length(null); length('abc');
upper('a'); coalesce(); greatest(); nullif(1); substring(s)
""",
    "rounding and limits": r"""
true::int4; true = b; b::text = 'true'; 'true'::bool = b; bool 't'; int4 '5'; float8 '1e3';
numeric '1.5'; numeric(5,1) '1.55'; cast('5' as int); int '5' + 1; '5'::integer + i2; i4::int;
i4::int8::int2; i4::float; i4::dec(10,2); i4::numeric(4,2); n::numeric(10,1)::int4;
(-2.5)::int4; 2.5::int4; 3.5::int4; (-0.5)::numeric(5,0); 2.5::float8::int4; 3.5::float8::int4;
f8::numeric(38,10); round(2.5); round(-2.5); round(2.5::float8); round(3.5::float8);
round(0.5::float8 + f8*0); trunc(-2.7); floor(-2.5); ceil(-2.5); 7 / 2; -7 / 2; -7 % 3; 7 % -3;
7.5 % 2; -7.5 % 2; 1.0 / 3; 10 / 4.0; 1 / 3.0::float4; 2::float8 ^ 0.5; i2 / 0.0; n / 0; n % 0;
f8 / 0; f8 / 0.0; f4 / 0::float4; i8 * i8; i4 * i4; i2 * i2; i2 + i2; n * n; n * n * n;
n / 7 * 7; n / 0.0000001; n * 1.00000000001; 1e30 * n; f8 * 1e300; exp(f8);
exp(1000::float8 + 0 * i2); ln(abs(f8)); f8 = f4; f4 = 0.1::float4; f8 > 'nan';
f8 = 'NaN'::float8; f4 < f8; -f8; f8 + -0.0; coalesce(i4, 1.5) / 2; greatest(i2, i8) / 2;
case when b then i4 else n end / 2
""",
}
