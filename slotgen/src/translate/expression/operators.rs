//! Operators and conditions on one path.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::eval::Computed;
use super::identity::pointer;
use crate::translate::paths::{Out, Paths, Refusal};
use crate::translate::value::{Place, State, Val, fold, int_type, positive, wider, wrap};

impl Paths {
    /// A binary operator.
    pub(crate) fn binary(
        &mut self,
        operator: &str,
        left: &Val,
        right: &Val,
        at: usize,
        state: &State,
    ) -> Result<Computed, Refusal> {
        if matches!(operator, "==" | "!=")
            && let Some(computed) = self.identity(operator == "!=", left, right, at)?
        {
            return Ok(computed);
        }
        let _ = state;
        if let (Some(a), Some(b), "<" | ">" | "<=" | ">=") = (pointer(left), pointer(right), operator) {
            let op = op_tokens(operator);
            return Ok(Computed::Call(quote!(c.address(#a)? #op c.address(#b)?)));
        }
        Ok(Computed::Val(match (left, right) {
            (Val::Const(a, _), Val::Const(b, _)) => match fold(operator, *a, *b) {
                Some(number) => Val::Const(number, None),
                None => return self.no(format!("operator {operator} on constants"), at),
            },
            (Val::Int(_, _, true), Val::Const(0, _)) if operator == "<" => Val::Const(0, None),
            (Val::Int(_, _, true), Val::Const(0, _)) if operator == ">=" => Val::Const(1, None),
            (Val::Int(_, _, true), Val::Const(b, _)) if operator == "==" && *b < 0 => Val::Const(0, None),
            (Val::Int(_, _, true), Val::Const(b, _)) if operator == "!=" && *b < 0 => Val::Const(1, None),
            (Val::Bool(a), Val::Const(b @ (0 | 1), _)) if matches!(operator, "==" | "!=") => {
                let code = &a.code;
                let plain = (*b == 1) == (operator == "==");
                Val::Bool(Place { code: if plain { code.clone() } else { quote!((!#code)) }, by_ref: false })
            }
            (Val::Bool(_), Val::Const(0, _)) if operator == "<" => Val::Const(0, None),
            (Val::Bool(_), Val::Const(0, _)) if operator == ">=" => Val::Const(1, None),
            (Val::Bool(a), Val::Const(0, _)) if operator == ">" => Val::Bool(a.clone()),
            (Val::Bool(a), Val::Const(b, _)) if *b < 0 && matches!(operator, "==" | "!=") => {
                let _ = a;
                Val::Const(i128::from(operator == "!="), None)
            }
            (Val::Bool(a), Val::Bool(b)) if matches!(operator, "==" | "!=" | "^" | "&" | "|") => {
                let (a, b, op) = (&a.code, &b.code, op_tokens(operator));
                Val::Bool(Place { code: quote!((#a #op #b)), by_ref: false })
            }
            (Val::Array(items, offset), Val::Const(number, _)) if matches!(operator, "+" | "-") => {
                let by = if operator == "+" { *number } else { -*number };
                let offset = i128::try_from(*offset).unwrap_or(0) + by;
                match usize::try_from(offset) {
                    Ok(offset) if offset <= items.len() => Val::Array(items.clone(), offset),
                    _ => return self.no("pointer outside of an array", at),
                }
            }
            (Val::Buffer(place, elements, offset), number) if matches!(operator, "+" | "-") => {
                let Some(by) = self.int_code(number, "isize") else { return self.no("pointer arithmetic", at) };
                let by = if operator == "-" { quote!((#by as isize).wrapping_neg()) } else { quote!((#by as isize)) };
                let code = match offset {
                    Some(offset) => {
                        let offset = &offset.code;
                        quote!(#offset.wrapping_add(#by))
                    }
                    None => by,
                };
                Val::Buffer(place.clone(), elements, Some(Place { code, by_ref: false }))
            }
            (Val::Slice(place), number) if operator == "+" => {
                let Some(by) = self.int_code(number, "usize") else { return self.no("pointer arithmetic", at) };
                let code = &place.code;
                Val::Slice(Place { code: quote!(#code.get(#by..).unwrap_or_default()), by_ref: true })
            }
            (Val::Double(_), _) | (_, Val::Double(_)) => self.double(operator, left, right, at)?,
            _ => self.integers(operator, left, right, at)?,
        }))
    }

    fn double(&mut self, operator: &str, left: &Val, right: &Val, at: usize) -> Result<Val, Refusal> {
        let code = |value: &Val| match value {
            Val::Double(place) => Some(place.code.clone()),
            Val::Const(number, _) => {
                let literal = proc_macro2::Literal::f64_unsuffixed(number.unsigned_abs() as f64);
                Some(if *number < 0 { quote!(-#literal) } else { quote!(#literal) })
            }
            Val::Int(place, ..) => {
                let code = &place.code;
                Some(quote!((#code as f64)))
            }
            _ => None,
        };
        let (Some(a), Some(b)) = (code(left), code(right)) else {
            return self.no(format!("operator {operator} on doubles"), at);
        };
        let literal = |code: &TokenStream| code.to_string().replace(['(', ')', ' '], "").parse::<f64>().ok();
        if let (Some(x), Some(y), "==" | "!=") = (literal(&a), literal(&b), operator) {
            return Ok(Val::Const(i128::from((x == y) == (operator == "==")), None));
        }
        let op = op_tokens(operator);
        let place = Place { code: quote!((#a #op #b)), by_ref: false };
        Ok(if is_comparison(operator) { Val::Bool(place) } else { Val::Double(place) })
    }

    fn integers(&mut self, operator: &str, left: &Val, right: &Val, at: usize) -> Result<Val, Refusal> {
        let int = match (int_type(left), int_type(right)) {
            (Some(a), Some(b)) => wider(a, b),
            _ => return self.no(format!("operator {operator} on {} and {}", left.word(), right.word()), at),
        };
        let (Some(a), Some(b)) = (self.int_code(left, int), self.int_code(right, int)) else {
            return self.no(format!("operator {operator}"), at);
        };
        let op = op_tokens(operator);
        if let (">", Val::Const(number, _)) = (operator, right)
            && match int {
                "u32" => *number >= i128::from(u32::MAX),
                "u64" | "usize" => *number >= i128::from(u64::MAX),
                _ => false,
            }
        {
            return Ok(Val::Const(0, None));
        }
        if is_comparison(operator) {
            return Ok(Val::Bool(Place { code: quote!((#a #op #b)), by_ref: false }));
        }
        let method = match operator {
            "+" => Some("wrapping_add"),
            "-" => Some("wrapping_sub"),
            "*" => Some("wrapping_mul"),
            _ => None,
        };
        let positive =
            int.starts_with('u') || (matches!(operator, "&" | "+" | "|") && positive(left) && positive(right));
        let code = match method {
            Some(method) => {
                let (method, int) = (format_ident!("{method}"), format_ident!("{int}"));
                let a = if matches!(left, Val::Const(..)) || int == "const" { quote!((#a as #int)) } else { a };
                quote!(#a.#method(#b))
            }
            _ if matches!(operator, "/" | "%") && !matches!(right, Val::Const(number, _) if *number > 0) => {
                let method = format_ident!("{}", if operator == "/" { "checked_div" } else { "checked_rem" });
                let int = format_ident!("{int}");
                quote!((#a as #int).#method(#b).ok_or_else(|| c.unsupported("division by zero"))?)
            }
            _ if matches!(operator, "<<" | ">>")
                && !matches!(right, Val::Const(number, _) if (0..32).contains(number)) =>
            {
                let method = format_ident!("{}", if operator == "<<" { "wrapping_shl" } else { "wrapping_shr" });
                let int = format_ident!("{int}");
                quote!((#a as #int).#method(#b as u32))
            }
            _ => quote!((#a #op #b)),
        };
        Ok(Val::Int(Place { code, by_ref: false }, int, positive))
    }

    /// A value as an integer of a type.
    pub(crate) fn int_code(&self, value: &Val, int: &str) -> Option<TokenStream> {
        Some(match value {
            Val::Const(number, _) if wrap(*number, int) != *number => self.number(wrap(*number, int)),
            Val::Const(number, None) => self.number(*number),
            Val::Const(number, Some(name)) => {
                if matches!(int, "isize") && *number == i128::from(i64::MAX) {
                    return Some(quote!(isize::MAX));
                }
                if matches!(int, "isize") && *number == i128::from(i64::MIN) {
                    return Some(quote!(isize::MIN));
                }
                let _ = name;
                self.number(*number)
            }
            Val::Int(place, from, _) => {
                let (code, ty) = (&place.code, format_ident!("{int}"));
                if *from == int || *from == "const" { quote!(#code) } else { quote!((#code as #ty)) }
            }
            Val::Bool(place) => {
                let (code, ty) = (&place.code, format_ident!("{int}"));
                quote!(#ty::from(#code))
            }
            _ => return None,
        })
    }

    /// Hands the integer code of a value on.
    pub(crate) fn with_int(&mut self, value: Val, int: &str, at: usize, k: &mut dyn FnMut(TokenStream) -> Out) -> Out {
        match self.int_code(&value, int) {
            Some(code) => k(code),
            None => self.no(format!("integer expected, not {}", value.word()), at),
        }
    }
}

fn is_comparison(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "<" | ">" | "<=" | ">=")
}

fn op_tokens(operator: &str) -> TokenStream {
    operator.parse().unwrap_or_default()
}
