//! Operators and casts.

use quote::ToTokens;

use super::body::{Body, Found, told, told_tokens};
use super::fits::{meet, same};
use super::kinds::Ty;

impl Body<'_> {
    pub(super) fn unary(&mut self, one: &syn::ExprUnary) -> Found {
        let found = self.expr(&one.expr, None)?;
        match one.op {
            syn::UnOp::Deref(_) => Ok(match found {
                Ty::Ref(inner) | Ty::Mut(inner) => *inner,
                ty if ty.is_open() => ty,
                ty => return Err(format!("`{ty}` is no reference: {}", told(&one.expr))),
            }),
            syn::UnOp::Not(_) if matches!(found, Ty::Bool | Ty::Int(_) | Ty::AnyInt) || found.is_open() => Ok(found),
            syn::UnOp::Neg(_) if found.is_number() || found.is_open() => match &found {
                Ty::Int(name) if name.starts_with('u') => {
                    Err(format!("a `{name}` has no negative: {}", told(&one.expr)))
                }
                _ => Ok(found),
            },
            _ => Err(format!("an operator on `{found}`: {}", told(&one.expr))),
        }
    }

    pub(super) fn binary(&mut self, both: &syn::ExprBinary) -> Found {
        use syn::BinOp::{And, BitAnd, BitOr, BitXor, Eq, Ge, Gt, Le, Lt, Ne, Or, Shl, Shr};
        let left = self.expr(&both.left, None)?;
        let right = self.expr(&both.right, Some(&left))?;
        let wrong = || {
            format!("`{left}` and `{right}` on both sides of `{}`: {}", both.op.to_token_stream(), told_tokens(both))
        };
        match both.op {
            And(_) | Or(_) => {
                self.must(&left, &Ty::Bool, &both.left)?;
                self.must(&right, &Ty::Bool, &both.right)?;
                Ok(Ty::Bool)
            }
            Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_) => {
                let strings = |one: &Ty| matches!(one.bare(), Ty::Str) || *one.bare() == Ty::named("String");
                let opaque = |one: &Ty| matches!(one.bare(), Ty::Named(name) if name == "Object" || name == "Error");
                let fine = same(&left, &right) || strings(&left) && strings(&right);
                let compares = !opaque(&left) && !opaque(&right);
                if fine && compares { Ok(Ty::Bool) } else { Err(wrong()) }
            }
            Shl(_) | Shr(_) if left.is_number() && right.is_number() => Ok(left),
            BitAnd(_) | BitOr(_) | BitXor(_) if left == Ty::Bool && right == Ty::Bool => Ok(Ty::Bool),
            _ => {
                let (one, other) = (left.bare(), right.bare());
                let numbers = (one.is_number() || one.is_open()) && (other.is_number() || other.is_open());
                if numbers && same(one, other) {
                    meet(one.clone(), other.clone()).ok_or_else(wrong)
                } else {
                    Err(wrong())
                }
            }
        }
    }

    pub(super) fn cast(&mut self, one: &syn::ExprCast) -> Found {
        let (found, to) = (self.expr(&one.expr, None)?, Ty::of(&one.ty));
        let from_bool = found == Ty::Bool && matches!(to, Ty::Int(_));
        let fine = found.is_open() || to.is_open() || found.is_number() && to.is_number() || from_bool;
        if fine { Ok(to) } else { Err(format!("`{found}` cannot be cast to `{to}`: {}", told(&one.expr))) }
    }
}
